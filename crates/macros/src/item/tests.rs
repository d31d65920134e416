use quote::quote;
use syn::parse::Parser as _;
use syn::parse2;

use super::*;
use crate::option::value;

#[test]
fn a_function_is_written_as_it_was_read() {
    for function in [
        quote!(
            fn f() {}
        ),
        quote! {
            #[cfg(unix)]
            pub(crate) const unsafe extern "C" fn f<'a, T: Copy + 'a>(
                mut a: &'a str,
                #[arg(min = 1)] (b, _): (u8, [u8; 2]),
                some::Path { c }: some::Path,
            ) -> Result<T, some::Error>
            where
                T: Copy,
            {
                #![allow(unused)]
                a;
            }
        },
        quote! {
            async fn f(self: Arc<Self>, r#type: u8,) {}
        },
    ] {
        let read: Function = parse2(function.clone()).expect("a function");
        assert_eq!(read.to_token_stream().to_string(), function.to_string());
    }
    assert!(
        parse2::<Function>(quote!(
            struct S;
        ))
        .is_err()
    );
    assert!(
        parse2::<Function>(quote!(
            fn f();
        ))
        .is_err()
    );
    assert!(parse2::<Function>(quote!(fn f(a) {})).is_err());
}

#[test]
fn a_parameter_that_is_a_name_has_a_name() {
    let names = |function: TokenStream| {
        let read: Function = parse2(function).expect("a function");
        let typed = read.sig.inputs.into_iter().map(|input| match input {
            Input::Typed(typed) => typed.name().map(|name| name.to_string()),
            Input::Receiver(_) => Some("self".to_owned()),
        });
        typed.collect::<Vec<_>>()
    };
    let some = |name: &str| Some(name.to_owned());
    assert_eq!(
        names(quote!(
            fn f(&self, a: u8, mut b: u8, _: u8, ref c: u8, (d,): (u8,)) {}
        )),
        [some("self"), some("a"), some("b"), None, None, None]
    );
}

#[test]
fn a_receiver_that_is_shared_is_found() {
    let kind = |function: TokenStream| {
        let read: Function = parse2(function).expect("a function");
        read.sig.receiver().map(|receiver| receiver.kind.clone())
    };
    assert!(matches!(
        kind(quote!(
            fn f(&'a self) {}
        )),
        Some(ReceiverKind::Shared)
    ));
    assert!(matches!(
        kind(quote!(
            fn f(&mut self) {}
        )),
        Some(ReceiverKind::Other)
    ));
    assert!(matches!(
        kind(quote!(
            fn f(mut self) {}
        )),
        Some(ReceiverKind::Other)
    ));
    assert!(matches!(
        kind(quote!(
            fn f(self: Arc<Self>) {}
        )),
        Some(ReceiverKind::Typed(_))
    ));
    assert!(
        kind(quote!(
            fn f(a: u8) {}
        ))
        .is_none()
    );
}

#[test]
fn a_block_is_written_as_it_was_read() {
    let block = quote! {
        #[cfg(unix)]
        unsafe impl<T> !some::Trait<T> for Vec<T>
        where
            T: Copy,
        {
            #![allow(unused)]
            const C: u8 = { 1 };
            type T = [u8; 2];
            make! {}
            make!(a; b);
            pub fn g(&self) -> u8 { 1 }
            fn h();
        }
    };
    let read: Block = parse2(block.clone()).expect("a block");
    assert_eq!(read.to_token_stream().to_string(), block.to_string());
    let functions = read
        .members
        .iter()
        .filter(|member| matches!(member, Member::Function(_)));
    assert_eq!((functions.count(), read.members.len()), (1, 6));
    assert!(parse2::<Block>(quote!(impl T { fn f })).is_err());
}

#[test]
fn a_value_ends_at_its_comma() {
    for text in [
        quote!("a"),
        quote!(some::function::<u8, u8>(1, 2)),
        quote!(["a", "b"]),
        quote!(|a, b| a + b),
        quote!(move |a, b| { a }),
        quote!(1..2),
        quote!(if a { 1 } else { 2 }),
        quote!(async { 1 }),
    ] {
        let both = quote!(#text, next);
        let read = |input: ParseStream<'_>| {
            let value = value(input)?;
            input.parse::<TokenStream>().map(|rest| (value, rest))
        };
        let (value, rest) = read.parse2(both).expect("a value");
        assert_eq!(value.to_token_stream().to_string(), text.to_string());
        assert_eq!(rest.to_string(), ", next");
    }
    let Err(none) = value.parse2(TokenStream::new()) else {
        panic!("a value without tokens");
    };
    assert_eq!(
        none.to_string(),
        "unexpected end of input, expected an expression"
    );
}
