//! Types that stand for resources and prompts, alone and in tuples.

use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::tuples::all_tuples;

/// A type that stands for a resource or a template; `#[resource]` makes one beside the function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource",
    label = "does not stand for a resource",
    note = "put `#[resource(\"scheme://…\")]` on the function; a `Resource` built by hand is added with `add_resource`"
)]
pub trait IntoResource {
    /// Makes the resource.
    fn into_resource() -> Resource;
}

/// A type that stands for a prompt; `#[prompt]` makes one beside the function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a prompt",
    label = "does not stand for a prompt",
    note = "put `#[prompt]` on the function; a `Prompt` built by hand is added with `add_prompt`"
)]
pub trait IntoPrompt {
    /// Makes the prompt.
    fn into_prompt() -> Prompt;
}

/// Several resources at once: a tuple of up to 16 types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of resources",
    note = "write a tuple of resources: `server.resources::<(readme, doc)>()`"
)]
pub trait ResourceSet {
    /// Makes the resources, in order.
    fn into_resources() -> Vec<Resource>;
}

/// Several prompts at once: a tuple of up to 16 types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of prompts",
    note = "write a tuple of prompts: `server.prompts::<(review, explain)>()`"
)]
pub trait PromptSet {
    /// Makes the prompts, in order.
    fn into_prompts() -> Vec<Prompt>;
}

macro_rules! sets {
    () => {};
    ($($item:ident $_via:ident),+) => {
        impl<$($item: IntoResource),+> ResourceSet for ($($item,)+) {
            fn into_resources() -> Vec<Resource> {
                vec![$($item::into_resource()),+]
            }
        }

        impl<$($item: IntoPrompt),+> PromptSet for ($($item,)+) {
            fn into_prompts() -> Vec<Prompt> {
                vec![$($item::into_prompt()),+]
            }
        }
    };
}

all_tuples!(sets, up to 16);

#[cfg(test)]
mod tests {
    use super::*;

    struct Readme;
    struct Licence;
    struct Ask;

    impl IntoResource for Readme {
        fn into_resource() -> Resource {
            Resource::text("docs://readme", "readme", "Read me.")
        }
    }

    impl IntoResource for Licence {
        fn into_resource() -> Resource {
            Resource::text("docs://licence", "licence", "As you like.")
        }
    }

    impl IntoPrompt for Ask {
        fn into_prompt() -> Prompt {
            Prompt::new("ask").handler(async || "What?")
        }
    }

    #[test]
    fn resources_and_prompts_come_in_tuples_in_their_order() {
        let resources = <(Readme, Licence)>::into_resources();
        let names: Vec<&str> = resources.iter().map(Resource::name).collect();

        assert_eq!(names, ["readme", "licence"]);
        assert_eq!(<(Ask,)>::into_prompts()[0].name(), "ask");
    }
}
