//! The function that has the attribute: its name, its parameters, and the call of it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned;
use syn::{Attribute, Generics, Result, ReturnType, Type};

use crate::doc;
use crate::item::{Input, Receiver, ReceiverKind, Signature};
use crate::param::{Argument, Param, Role, last_segment};

/// A function that becomes a tool, a prompt or a resource.
pub(crate) struct Function {
    pub(crate) ident: Ident,
    pub(crate) description: Option<String>,
    pub(crate) params: Vec<Param>,
    owner: Owner,
    is_async: bool,
    result: Span,
}

/// The place of a function, and its receiver.
enum Owner {
    /// A function outside of `impl` blocks.
    Module,
    /// A function of an `impl` block, without `self`.
    Type,
    /// A method that takes `&self`.
    Reference,
    /// A method that takes `self: Arc<Self>`.
    Shared,
}

impl Function {
    /// Reads a function outside of `impl` blocks.
    ///
    /// # Errors
    ///
    /// If the function is generic, or a parameter is invalid.
    pub(crate) fn read(attributes: &[Attribute], signature: &Signature) -> Result<Self> {
        Self::with_owner(attributes, signature, Owner::Module)
    }

    /// Reads a function of an `impl` block.
    ///
    /// # Errors
    ///
    /// As [`Self::read`], and if `self` is neither shared nor absent.
    pub(crate) fn read_method(attributes: &[Attribute], signature: &Signature) -> Result<Self> {
        let owner = signature.receiver().map_or(Ok(Owner::Type), owner)?;
        Self::with_owner(attributes, signature, owner)
    }

    fn with_owner(attributes: &[Attribute], signature: &Signature, owner: Owner) -> Result<Self> {
        refuse_generics(&signature.generics)?;
        let typed = signature.inputs.iter().filter_map(|input| match input {
            Input::Typed(param) => Some(&**param),
            Input::Receiver(_) => None,
        });
        let mut params = typed.map(Param::read).collect::<Result<Vec<_>>>()?;
        let documentation = doc::documentation(attributes);
        for (name, text) in documentation.arguments {
            describe(&mut params, signature, &name, text)?;
        }
        Ok(Self {
            ident: signature.ident.clone(),
            description: documentation.description,
            params,
            owner,
            is_async: signature.is_async,
            result: match &signature.output {
                ReturnType::Default => signature.ident.span(),
                ReturnType::Type(_, ty) => ty.span(),
            },
        })
    }

    /// Returns its name on the wire, unless an option sets another.
    pub(crate) fn name(&self) -> String {
        self.ident.to_string().trim_start_matches("r#").to_owned()
    }

    /// Returns the place of its result type, for errors about the type.
    pub(crate) fn result_span(&self) -> Span {
        self.result
    }

    /// Returns the future of one call with these arguments.
    pub(crate) fn future(&self, arguments: &[TokenStream]) -> TokenStream {
        if self.is_async && matches!(self.owner, Owner::Module) {
            let ident = &self.ident;
            return quote!(#ident(#(#arguments),*));
        }
        let values = numbered(arguments.len());
        let (own, call) = (self.own(), self.call(&values));
        let wait = self.is_async.then(|| quote!(.await));
        quote!({
            #(let #values = #arguments;)*
            #own
            async move { #call #wait }
        })
    }

    /// Returns `move` if the closure around a call owns the value of the method.
    pub(crate) fn capture(&self) -> Option<TokenStream> {
        self.takes_self().then(|| quote!(move))
    }

    fn takes_self(&self) -> bool {
        matches!(self.owner, Owner::Reference | Owner::Shared)
    }

    /// Returns the statement that makes the value of the method owned by one call.
    fn own(&self) -> Option<TokenStream> {
        self.takes_self().then(|| {
            let this = this();
            quote!(let #this = ::std::sync::Arc::clone(&#this);)
        })
    }

    /// Returns the call with values that are variables. It names the type of a method, so a trait with
    /// a method of the same name does not matter.
    fn call(&self, values: &[Ident]) -> TokenStream {
        let (ident, this) = (&self.ident, this());
        match self.owner {
            Owner::Module => quote!(#ident(#(#values),*)),
            Owner::Type => quote!(Self::#ident(#(#values),*)),
            Owner::Reference => quote!(Self::#ident(&#this #(, #values)*)),
            Owner::Shared => quote!(Self::#ident(#this #(, #values)*)),
        }
    }

    /// Returns the future of one call on the pool of blocking threads.
    ///
    /// # Errors
    ///
    /// If the function is async, because an async function must not block.
    pub(crate) fn blocking_future(
        &self,
        paths: &TokenStream,
        asked: Span,
        arguments: &[TokenStream],
    ) -> Result<TokenStream> {
        if self.is_async {
            return Err(syn::Error::new(
                asked,
                "`blocking` is for plain functions; an async function must not block",
            ));
        }
        let values = numbered(arguments.len());
        let (own, call) = (self.own(), self.call(&values));
        Ok(quote!({
            #(let #values = #arguments;)*
            #own
            #paths::blocking(move || #call)
        }))
    }
}

/// Sets the description of an argument, unless the parameter has a doc comment. A value of the server has no description.
fn describe(params: &mut [Param], signature: &Signature, name: &str, text: String) -> Result<()> {
    let is_named = |argument: &Argument| argument.ident.unraw() == name || argument.name() == name;
    for param in params {
        if let Role::Argument(argument) = &mut param.role
            && is_named(argument)
        {
            argument.description.get_or_insert(text);
            return Ok(());
        }
    }
    let is_parameter = |input: &Input| match input {
        Input::Typed(param) => param.name().is_some_and(|own| own == name),
        Input::Receiver(_) => name == "self",
    };
    match signature.inputs.iter().any(is_parameter) {
        true => Ok(()),
        false => Err(syn::Error::new(
            signature.ident.span(),
            format!("the doc comment describes `{name}`, and the function has no such parameter"),
        )),
    }
}

/// Removes the attributes of Pintle, because the compiler does not know them.
pub(crate) fn strip(signature: &mut Signature) {
    for input in &mut signature.inputs {
        if let Input::Typed(param) = input {
            param.attrs.retain(|attribute| !is_ours(attribute));
        }
    }
}

fn is_ours(attribute: &Attribute) -> bool {
    doc::is_doc(attribute)
        || ["arg", "ability"]
            .iter()
            .any(|name| attribute.path().is_ident(name))
}

fn numbered(count: usize) -> Vec<Ident> {
    (0..count)
        .map(|number| Ident::new(&format!("__value{number}"), Span::mixed_site()))
        .collect()
}

/// The name of the shared value of methods.
pub(crate) fn this() -> Ident {
    format_ident!("__this")
}

/// Returns the kind of a receiver.
fn owner(receiver: &Receiver) -> Result<Owner> {
    let is_shared = |ty: &Type| last_segment(ty).is_some_and(|segment| segment.ident == "Arc");
    match &receiver.kind {
        ReceiverKind::Shared => Ok(Owner::Reference),
        ReceiverKind::Typed(ty) if is_shared(ty) => Ok(Owner::Shared),
        _ => Err(syn::Error::new_spanned(
            receiver,
            "calls run at the same time and share the value: take `&self`, and keep what changes in a `Mutex`",
        )),
    }
}

fn refuse_generics(generics: &Generics) -> Result<()> {
    if generics.params.is_empty() && generics.where_clause.is_none() {
        return Ok(());
    }
    Err(syn::Error::new(
        generics.span(),
        "the function has generic parameters that the caller cannot choose; name the types",
    ))
}
