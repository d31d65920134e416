//! Reading types that several members have.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use super::{
    Event, Kind, Members, Object, Read, ReadError, Source, Visit, Want, read_as, read_object,
    read_text, skip,
};

impl Read for String {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        read_text(source, "a string", |text| text.into_owned())
    }
}

impl Read for Box<str> {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        read_text(source, "a string", |text| text.into())
    }
}

impl Read for Cow<'static, str> {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        String::read(source).map(Cow::Owned)
    }
}

impl Read for bool {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        const EXPECTED: &str = "a boolean";
        read_as(source, Kind::Bool, EXPECTED, |event| match event {
            Event::Bool(value) => Ok(value),
            other => Err(other.wrong_type(EXPECTED)),
        })
    }
}

impl Read for i64 {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        const EXPECTED: &str = "i64";
        read_as(source, Kind::Integer, EXPECTED, |event| match event {
            Event::Signed(number) => Ok(number),
            Event::Unsigned(number) => {
                Self::try_from(number).map_err(|_| event.wrong_value(EXPECTED))
            }
            other => Err(other.wrong_type(EXPECTED)),
        })
    }
}

impl Read for f64 {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        const EXPECTED: &str = "f64";
        read_as(source, Kind::Float, EXPECTED, |event| match event {
            Event::Float(number) => Ok(number),
            Event::Signed(number) => Ok(number as Self),
            Event::Unsigned(number) => Ok(number as Self),
            other => Err(other.wrong_type(EXPECTED)),
        })
    }
}

impl Read for Number {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        const EXPECTED: &str = "a JSON number";
        read_as(source, Kind::Any, EXPECTED, |event| match event {
            Event::Signed(number) => Ok(number.into()),
            Event::Unsigned(number) => Ok(number.into()),
            Event::Float(number) => {
                Self::from_f64(number).ok_or_else(|| ReadError::of(&"not a JSON number"))
            }
            other => Err(other.wrong_type(EXPECTED)),
        })
    }
}

impl Read for Value {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        source.value()
    }
}

impl Read for IgnoredAny {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        skip(source).map(|()| Self)
    }
}

impl<T: Read> Read for Box<T> {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        T::read(source).map(Self::new)
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        let mut list = Self::new();
        read_elements(source, &mut list)?;
        Ok(list)
    }
}

/// A list that is filled by functions that are not generic.
trait List {
    fn read_element(&mut self, source: &mut dyn Source<'_>) -> Result<(), ReadError>;
}

impl<T: Read> List for Vec<T> {
    fn read_element(&mut self, source: &mut dyn Source<'_>) -> Result<(), ReadError> {
        self.push(T::read(source)?);
        Ok(())
    }
}

fn read_elements(source: &mut dyn Source<'_>, list: &mut dyn List) -> Result<(), ReadError> {
    const EXPECTED: &str = "a sequence";
    source.read(Want::one(Kind::Array, EXPECTED), &mut |event| match event {
        Event::Array(elements) => {
            while elements.next(&mut |source| list.read_element(source))? {}
            Ok(())
        }
        other => Err(other.wrong_type(EXPECTED)),
    })
}

impl<T: Read> Read for Option<T> {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        let mut optional = Optional {
            source,
            is_null: false,
        };
        let read = T::read(&mut optional);
        if optional.is_null {
            return Ok(None);
        }
        read.map(Some)
    }
}

/// A source whose value may be null.
struct Optional<'s, 'de> {
    source: &'s mut dyn Source<'de>,
    is_null: bool,
}

impl<'de> Source<'de> for Optional<'_, 'de> {
    fn read(&mut self, mut want: Want, visit: Visit<'_, 'de>) -> Result<(), ReadError> {
        want.is_optional = true;
        let is_null = &mut self.is_null;
        self.source.read(want, &mut |event| match event {
            // The result of the reader, which receives no value, is not used.
            Event::Null => {
                *is_null = true;
                Ok(())
            }
            other => visit(other),
        })
    }

    fn value(&mut self) -> Result<Value, ReadError> {
        match self.source.value()? {
            Value::Null => {
                self.is_null = true;
                Err(ReadError::Source)
            }
            value => Ok(value),
        }
    }

    fn raw(&mut self) -> Result<Box<RawValue>, ReadError> {
        let raw = self.source.raw()?;
        if raw.get() == "null" {
            self.is_null = true;
            return Err(ReadError::Source);
        }
        Ok(raw)
    }
}

impl<T: Read> Object for BTreeMap<String, T> {
    const EXPECTED: &'static str = "a map";

    fn build(members: &mut dyn Members<'_>) -> Result<Self, ReadError> {
        let mut map = Self::new();
        while let Some(name) = members.next_name()? {
            map.insert(name.into_owned(), T::read(members)?);
        }
        Ok(map)
    }
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        read_object(source)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{ElicitFormParams, Error, Tool, ToolSampling};

    #[test]
    fn an_optional_member_that_is_null_is_absent() {
        let tool = json!({"name": "a", "inputSchema": {}, "icons": null, "title": null});
        let tool: Tool = serde_json::from_value(tool).unwrap();
        assert_eq!((tool.icons, tool.title), (None, None));

        let text = r#"{"code": 1, "message": "m", "data": null}"#;
        let error: Error = serde_json::from_str(text).unwrap();
        assert_eq!(error.data, None);

        let text = r#"{"mode": null, "message": "m", "requestedSchema": {"type": "object", "properties": {}}}"#;
        let form: ElicitFormParams = serde_json::from_str(text).unwrap();
        assert!(json!(form).get("mode").is_none());
    }

    #[test]
    fn errors_have_the_position_of_the_value() {
        let read = |text| serde_json::from_str::<Tool>(text).unwrap_err().to_string();
        assert_eq!(
            read(r#"{"name": 5}"#),
            "invalid type: integer `5`, expected a string at line 1 column 10"
        );
        assert_eq!(
            read(r#"{"icons": [{"src": "a", "src": "b"}]}"#),
            "duplicate field `src` at line 1 column 29"
        );
        assert_eq!(read("{}"), "missing field `name` at line 1 column 2");
        assert_eq!(
            read("[]"),
            "invalid type: sequence, expected struct Tool at line 1 column 0"
        );
        let sampling = r#"{"messages": [], "maxTokens": 5, "tools": null}"#;
        let error = serde_json::from_str::<ToolSampling>(sampling).unwrap_err();
        assert_eq!(error.to_string(), "missing field `tools`");
    }
}
