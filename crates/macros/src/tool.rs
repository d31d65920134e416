//! `#[tool]`.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{Path, Result};

use crate::arguments;
use crate::attribute::{Entry, entries};
use crate::common::{Common, Paths, here, needs};
use crate::expansion::Kind;
use crate::function::Function;
use crate::option::duration;
use crate::param::{Param, Role};

/// The options of `#[tool]`.
#[derive(Default)]
pub(crate) struct Tool {
    common: Common,
    hints: Vec<(Ident, bool)>,
    timeout: Option<Duration>,
    task: Option<Ident>,
    blocking: Option<Span>,
}

const KNOWN: &str = "`name`, `title`, `description`, `icon`, `read_only`, `destructive`, `idempotent`, \
    `open_world`, `timeout`, `scopes`, `tags`, `task`, `blocking` and `crate`";

impl Parse for Tool {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut tool = Self::default();
        for entry in entries(input)? {
            if !tool.common.take(&entry)? {
                tool.set(&entry)?;
            }
        }
        Ok(tool)
    }
}

impl Tool {
    fn set(&mut self, entry: &Entry) -> Result<()> {
        match entry.name.to_string().as_str() {
            "read_only" | "destructive" | "idempotent" | "open_world" => {
                self.hints.push((entry.name.clone(), entry.flag()?));
            }
            "timeout" => self.timeout = Some(duration(&entry.string()?)?),
            "task" => self.task = Some(task_support(&entry.path()?)?),
            "blocking" => self.blocking = Some(entry.word()?),
            _ => return Err(entry.unknown(KNOWN)),
        }
        Ok(())
    }

    /// Returns the builder calls for the options that only tools have.
    fn calls(&self, paths: &Paths) -> TokenStream {
        let hidden = &paths.hidden;
        let hints = self
            .hints
            .iter()
            .map(|(hint, holds)| quote!(.#hint(#holds)));
        let timeout = self.timeout.map(|timeout| {
            let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
            quote!(.timeout(::core::time::Duration::from_millis(#millis)))
        });
        let task = self
            .task
            .as_ref()
            .map(|task| quote!(.task(#hidden::tasks::TaskSupport::#task)));
        quote!(#(#hints)* #timeout #task)
    }

    fn future(&self, function: &Function, paths: &Paths) -> Result<TokenStream> {
        let values: Vec<TokenStream> = function
            .params
            .iter()
            .map(|param| value(param, paths))
            .collect();
        match self.blocking {
            Some(asked) => function.blocking_future(&paths.hidden, asked, &values),
            None => Ok(function.future(&values)),
        }
    }
}

impl Kind for Tool {
    const WORD: &'static str = "tool";

    fn common(&self) -> &Common {
        &self.common
    }

    fn body(&self, function: &Function, paths: &Paths) -> Result<TokenStream> {
        let hidden = &paths.hidden;
        let name = self.common.name(function);
        let calls = [
            self.common.calls(function, paths),
            self.calls(paths),
            needs(function),
        ];
        let Input { declaration, ty } = input(function, paths)?;
        let input = ty.as_ref().map(|ty| quote!(.input::<#ty>()));
        let decode = ty
            .as_ref()
            .map(|ty| quote!(let __arguments = __call.arguments::<#ty>()?;));
        let (future, capture) = (self.future(function, paths)?, function.capture());
        let on_call = quote_spanned!(here(function.result_span())=> on_call);
        Ok(quote! {
            #declaration
            #hidden::Tool::new(#name) #(#calls)* #input.#on_call(#capture |__call: &#hidden::ToolCall<'_>| {
                #decode
                ::core::result::Result::Ok(#future)
            })
        })
    }
}

/// The type that the arguments are decoded into.
struct Input {
    declaration: Option<TokenStream>,
    ty: Option<TokenStream>,
}

fn input(function: &Function, paths: &Paths) -> Result<Input> {
    let mut wholes = function
        .params
        .iter()
        .filter_map(|param| match &param.role {
            Role::Whole(ty) => Some((param, ty)),
            _ => None,
        });
    let argument = function
        .params
        .iter()
        .find(|param| param.argument().is_some());
    match (wholes.next(), wholes.next(), argument) {
        (Some((_, ty)), None, None) => Ok(Input {
            declaration: None,
            ty: Some(quote!(#ty)),
        }),
        (None, _, None) => Ok(Input {
            declaration: None,
            ty: None,
        }),
        (None, _, Some(_)) => {
            let name = arguments::type_name();
            let declaration = arguments::declaration(paths, &function.params)?;
            Ok(Input {
                declaration: Some(declaration),
                ty: Some(quote!(#name)),
            })
        }
        (Some(_), Some((second, _)), _) => Err(syn::Error::new(
            second.span,
            "only one parameter can be `Args<T>`",
        )),
        (Some(_), None, Some(other)) => Err(syn::Error::new(
            other.span,
            "`Args<T>` takes all arguments: make this one a field of its type",
        )),
    }
}

/// Returns the expression that is passed for a parameter.
fn value(param: &Param, paths: &Paths) -> TokenStream {
    let hidden = &paths.hidden;
    match &param.role {
        Role::Argument(argument) => {
            let ident = &argument.ident;
            quote!(__arguments.#ident)
        }
        Role::Whole(_) => quote!(#hidden::Args(__arguments)),
        Role::Ability => param.ability(),
    }
}

fn task_support(path: &Path) -> Result<Ident> {
    let word = path.get_ident().map(ToString::to_string);
    match word.as_deref() {
        Some("optional") => Ok(format_ident!("Optional")),
        Some("required") => Ok(format_ident!("Required")),
        Some("forbidden") => Ok(format_ident!("Forbidden")),
        _ => Err(syn::Error::new_spanned(
            path,
            "`task` is `optional`, `required` or `forbidden`",
        )),
    }
}
