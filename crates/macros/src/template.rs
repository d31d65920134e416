//! The names of the variables of a URI template.
//!
//! The server matches and expands templates. The attribute needs only the names.

/// Returns the names of the variables, in order, each once.
///
/// # Errors
///
/// The reason why the template is invalid.
pub(crate) fn variables(template: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut rest = template;
    while let Some(start) = rest.find(['{', '}']) {
        let (_, from) = rest.split_at(start);
        let Some(inside) = from.strip_prefix('{') else {
            return Err("`}` has no `{`".to_owned());
        };
        let Some((expression, after)) = inside.split_once('}') else {
            return Err("`{` is not closed".to_owned());
        };
        for name in expression_names(expression)? {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        rest = after;
    }
    Ok(names)
}

fn expression_names(expression: &str) -> Result<Vec<String>, String> {
    let variables = expression
        .strip_prefix(['+', '#', '.', '/', ';', '?', '&'])
        .unwrap_or(expression);
    variables.split(',').map(variable_name).collect()
}

/// Returns the name without `*` or `:3`.
fn variable_name(variable: &str) -> Result<String, String> {
    let name = variable.strip_suffix('*').unwrap_or(variable);
    let (name, prefix) = name.split_once(':').unwrap_or((name, "1"));
    let is_prefix =
        (1..=4).contains(&prefix.len()) && prefix.bytes().all(|digit| digit.is_ascii_digit());
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    if is_prefix && is_name {
        Ok(name.to_owned())
    } else {
        Err(format!("`{variable}` is not a variable"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(template: &str) -> String {
        variables(template).expect("a template").join(" ")
    }

    #[test]
    fn variables_are_named_in_order_and_once() {
        assert_eq!(names("docs://{slug}"), "slug");
        assert_eq!(names("x://{a}/{+b}{/c*}{?d,e:3}{&a}"), "a b c d e");
        assert_eq!(names("config://app"), "");
    }

    #[test]
    fn an_invalid_template_is_an_error() {
        for template in [
            "x://{",
            "x://}",
            "x://{}",
            "x://{a",
            "x://{a-b}",
            "x://{a:}",
            "x://{a,}",
            "x://{{a}}",
        ] {
            assert!(variables(template).is_err(), "{template}");
        }
    }
}
