//! The request of a call.

use pintle_model::JsonObject;
use pintle_runtime::FetchRequest;
use serde_json::Value;

use crate::encode::encode;
use crate::error::{OpenApiCallError, refused};
use crate::parameter::{Parameter, Place, Style, scalar};
use crate::parts::Parts;

type Result<T> = std::result::Result<T, OpenApiCallError>;

impl Parts {
    /// Returns the request of a call.
    pub(crate) fn request(&self, arguments: &JsonObject) -> Result<FetchRequest> {
        let path = self.path.fill(&self.arguments.parameters, arguments)?;
        let query = self.query(arguments)?;
        let mark = if query.is_empty() { "" } else { "?" };
        let mut request = FetchRequest::get(format!("{}{path}{mark}{query}", self.api.url))
            .header("accept", "application/json, text/*;q=0.9, */*;q=0.1");
        request.method = self.method;
        request.network = self.api.network;
        request.max_bytes = self.api.limits.max_response_bytes;
        request.timeout = self.api.limits.request_timeout;
        for (name, value) in self.headers(arguments)? {
            request = request.header(&name.to_ascii_lowercase(), &value);
        }
        if let Some(body) = &self.arguments.body
            && let Some(value) = arguments.get(&*body.argument)
        {
            request.body = value.to_string().into();
            request = request.header("content-type", &body.content_type);
        }
        Ok(request)
    }

    fn query(&self, arguments: &JsonObject) -> Result<String> {
        let mut parts = Vec::new();
        for (parameter, value) in self.given(Place::Query, arguments) {
            self.add_query(&mut parts, parameter, value)?;
        }
        let fixed = self
            .api
            .fixed
            .iter()
            .filter(|fixed| fixed.place == Place::Query);
        parts.extend(fixed.map(|fixed| pair(&fixed.name, &fixed.value)));
        Ok(parts.join("&"))
    }

    fn add_query(
        &self,
        parts: &mut Vec<String>,
        parameter: &Parameter,
        value: &Value,
    ) -> Result<()> {
        match (parameter.style, value) {
            (Style::Exploded, Value::Array(items)) => {
                parts.extend(
                    items
                        .iter()
                        .map(|item| pair(&parameter.name, &scalar(item))),
                );
            }
            (Style::Exploded, Value::Object(members)) => {
                for (name, value) in members {
                    self.check_member(parameter, name)?;
                    parts.push(pair(name, &scalar(value)));
                }
            }
            (Style::Deep, Value::Object(members)) => {
                let name = |member: &str| format!("{}[{member}]", parameter.name);
                parts.extend(
                    members
                        .iter()
                        .map(|(member, value)| pair(&name(member), &scalar(value))),
                );
            }
            (style, value) => {
                let text = style.text(value, encode);
                parts.push(format!("{}={text}", encode(&parameter.name)));
            }
        }
        Ok(())
    }

    /// The members of an object are parameters of their own here. They must not replace others.
    fn check_member(&self, parameter: &Parameter, name: &str) -> Result<()> {
        let is_other = |other: &Parameter| other.place == Place::Query && *other.name == *name;
        let is_taken = self.arguments.parameters.iter().any(is_other)
            || self
                .api
                .fixed
                .iter()
                .any(|fixed| fixed.sets(Place::Query, name));
        match is_taken {
            true => Err(refused(
                &parameter.argument,
                "a member has the name of another parameter",
            )),
            false => Ok(()),
        }
    }

    fn headers(&self, arguments: &JsonObject) -> Result<Vec<(Box<str>, String)>> {
        let mut headers = Vec::new();
        for (parameter, value) in self.given(Place::Header, arguments) {
            let text = parameter.style.text(value, str::to_owned);
            let is_allowed = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
            if !text.bytes().all(is_allowed) {
                return Err(refused(
                    &parameter.argument,
                    "a header has ASCII text in one line",
                ));
            }
            headers.push((parameter.name.clone(), text));
        }
        let fixed = self
            .api
            .fixed
            .iter()
            .filter(|fixed| fixed.place == Place::Header);
        headers.extend(fixed.map(|fixed| (fixed.name.clone(), fixed.value.to_string())));
        Ok(headers)
    }

    /// Returns the parameters of a place that have an argument.
    fn given<'a>(
        &'a self,
        place: Place,
        arguments: &'a JsonObject,
    ) -> impl Iterator<Item = (&'a Parameter, &'a Value)> {
        let at_place = self
            .arguments
            .parameters
            .iter()
            .filter(move |parameter| parameter.place == place);
        at_place.filter_map(|parameter| {
            let value = arguments.get(&*parameter.argument)?;
            (!value.is_null()).then_some((parameter, value))
        })
    }
}

fn pair(name: &str, value: &str) -> String {
    format!("{}={}", encode(name), encode(value))
}
