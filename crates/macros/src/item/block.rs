//! An `impl` block, and its members.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Generics, Result, Token, Type, braced, token};

use super::Function;

/// An `impl` block.
pub(crate) struct Block {
    attrs: Vec<Attribute>,
    /// `unsafe`, if it is there.
    unsafety: Option<Token![unsafe]>,
    impl_token: Token![impl],
    pub(crate) generics: Generics,
    /// The trait, with an exclamation mark for a negative one.
    pub(crate) of_trait: Option<(TokenStream, Token![for])>,
    pub(crate) self_ty: Type,
    brace: token::Brace,
    /// The attributes at the start of the block.
    inner: Vec<Attribute>,
    pub(crate) members: Vec<Member>,
}

/// A member of a block.
pub(crate) enum Member {
    Function(Box<Function>),
    /// A constant, a type or a call of a macro.
    Other(TokenStream),
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let (unsafety, impl_token) = (input.parse()?, input.parse()?);
        let mut generics: Generics = input.parse()?;
        let negation: Option<Token![!]> = input.parse()?;
        let mut self_ty: Type = input.parse()?;
        let mut of_trait = None;
        if input.peek(Token![for]) {
            let mut path = negation.to_token_stream();
            self_ty.to_tokens(&mut path);
            of_trait = Some((path, input.parse()?));
            self_ty = input.parse()?;
        }
        generics.where_clause = input.parse()?;
        let content;
        let brace = braced!(content in input);
        let inner = content.call(Attribute::parse_inner)?;
        let mut members = Vec::new();
        while !content.is_empty() {
            members.push(content.parse()?);
        }
        Ok(Self {
            attrs,
            unsafety,
            impl_token,
            generics,
            of_trait,
            self_ty,
            brace,
            inner,
            members,
        })
    }
}

impl Parse for Member {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.fork().parse::<Function>().is_ok() {
            return input.parse().map(Box::new).map(Self::Function);
        }
        let mut tokens = TokenStream::new();
        let (mut is_call, mut ends) = (false, false);
        while !ends {
            let token: TokenTree = input.parse()?;
            ends = match &token {
                TokenTree::Punct(mark) => mark.as_char() == ';',
                TokenTree::Group(group) => is_call && group.delimiter() == Delimiter::Brace,
                _ => false,
            };
            is_call = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '!');
            token.to_tokens(&mut tokens);
        }
        Ok(Self::Other(tokens))
    }
}

impl ToTokens for Block {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.attrs);
        self.unsafety.to_tokens(tokens);
        self.impl_token.to_tokens(tokens);
        self.generics.to_tokens(tokens);
        if let Some((path, for_token)) = &self.of_trait {
            path.to_tokens(tokens);
            for_token.to_tokens(tokens);
        }
        self.self_ty.to_tokens(tokens);
        self.generics.where_clause.to_tokens(tokens);
        self.brace.surround(tokens, |tokens| {
            tokens.append_all(&self.inner);
            for member in &self.members {
                match member {
                    Member::Function(function) => function.to_tokens(tokens),
                    Member::Other(other) => other.to_tokens(tokens),
                }
            }
        });
    }
}
