//! Results that are cut at a limit of bytes, and their remainders, which clients read as resources.

mod cut;
mod store;

use pintle::model::method::{CallTool, GetTaskPayload, Method};
use pintle::model::{Error, ErrorCode, RawJson, RawMembers, ReadResourceResult, ResultType};
use pintle::proto::{Rendered, Reply};
use pintle::runtime::Context;
use serde_json::value::RawValue;

use crate::error::internal;
use crate::options::ProxyOptions;
use crate::owner::Owner;
use crate::random_id::random_id;
use cut::Cut;
use store::Store;

/// The URI of a remainder, up to its random id.
const URI: &str = "pintle-result:///";

/// Cuts results of tools, and stores their remainders for the clients that called.
pub(crate) struct Remainders {
    most: Option<usize>,
    store: Store,
}

impl Remainders {
    pub(crate) fn new(options: &ProxyOptions) -> Self {
        Self {
            most: options.max_result_bytes,
            store: Store::new(options),
        }
    }

    /// Whether results are cut.
    pub(crate) fn is_used(&self) -> bool {
        self.most.is_some()
    }

    /// Cuts the result of a tool above the limit, and stores the remainder.
    ///
    /// # Errors
    ///
    /// -32603 if the result cannot be read.
    pub(crate) fn cut(
        &self,
        method: &str,
        raw: Box<RawValue>,
        cx: &Context,
    ) -> Result<Box<RawValue>, Error> {
        let is_of_tool = method == CallTool::NAME || method == GetTaskPayload::NAME;
        match self.most {
            Some(most) if is_of_tool && raw.get().len() > most && is_complete(&raw) => {
                self.replace(&raw, most, cx)
            }
            _ => Ok(raw),
        }
    }

    fn replace(&self, raw: &RawValue, most: usize, cx: &Context) -> Result<Box<RawValue>, Error> {
        let unreadable = |error| internal(&format!("invalid result of the server: {error}"));
        let mut members = RawMembers::read(raw.get()).map_err(unreadable)?;
        let uri = format!("{URI}{}", random_id()?);
        let mut cut = Cut::new(most, &uri);
        let content = members.get("content").map_or("[]", RawJson::get);
        let blocks: Vec<&RawValue> = serde_json::from_str(content).map_err(unreadable)?;
        blocks
            .into_iter()
            .try_for_each(|block| cut.add(block))
            .map_err(unreadable)?;
        if let Some(structured) = members.remove("structuredContent")
            && cut.add_structured(structured.get())
        {
            members.insert("structuredContent", structured);
        }
        let (kept, rest) = cut.finish();
        let kept = match rest {
            Some(rest) => {
                let note = rest.note(most, self.store.add(&uri, &Owner::of(cx), &rest));
                kept.into_iter().chain(note.map_err(unreadable)?).collect()
            }
            None => kept,
        };
        let content = serde_json::value::to_raw_value(&kept).map_err(unreadable)?;
        members.insert("content", &*content);
        let text = String::from_utf8(members.to_vec()).map_err(|_| Error::internal())?;
        RawValue::from_string(text).map_err(unreadable)
    }

    /// Returns true if a URI has the form of a remainder.
    pub(crate) fn has(&self, uri: &str) -> bool {
        self.is_used() && uri.starts_with(URI)
    }

    /// Returns a remainder of the client.
    ///
    /// # Errors
    ///
    /// The error of a resource that does not exist, also for a remainder of another client.
    pub(crate) fn read(&self, uri: &str, cx: &Context) -> Result<Reply, Error> {
        let contents = self.store.get(uri, &Owner::of(cx)).ok_or_else(|| {
            let text = "the remainder of the result does not exist or has expired";
            Error::new(ErrorCode::RESOURCE_NOT_FOUND, text.to_owned())
                .with_data(serde_json::json!({ "uri": uri }))
        })?;
        let contents = serde_json::from_str(&contents).map_err(|_| Error::internal())?;
        let result = ReadResourceResult::new(contents);
        Ok(Reply::Complete(Rendered::new(result, cx.terms().revision)?))
    }

    /// Removes the remainders whose time is over.
    pub(crate) fn sweep(&self) {
        self.store.sweep();
    }
}

fn is_complete(raw: &RawValue) -> bool {
    matches!(ResultType::of(raw), Ok(None | Some(ResultType::Complete)))
}

#[cfg(test)]
mod tests;
