//! Functions and `impl` blocks. The bodies stay tokens, because no attribute reads them.
//!
//! The types of `syn` for them are in its feature `full`, which takes more time to compile than this module saves of code.

mod block;
mod signature;

use proc_macro2::TokenStream;
use quote::{ToTokens, TokenStreamExt};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Result, Visibility, braced, token};

pub(crate) use block::{Block, Member};
pub(crate) use signature::{Input, Receiver, ReceiverKind, Signature, TypedInput};

/// A function or a method.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    brace: token::Brace,
    body: TokenStream,
}

impl Function {
    /// Inserts statements at the start of the body.
    pub(crate) fn begin_with(&mut self, mut statements: TokenStream) {
        statements.extend(std::mem::take(&mut self.body));
        self.body = statements;
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let (vis, sig) = (input.parse()?, input.parse()?);
        let content;
        Ok(Self {
            attrs,
            vis,
            sig,
            brace: braced!(content in input),
            body: content.parse()?,
        })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.attrs);
        self.vis.to_tokens(tokens);
        self.sig.to_tokens(tokens);
        self.brace
            .surround(tokens, |tokens| self.body.to_tokens(tokens));
    }
}

#[cfg(test)]
mod tests;
