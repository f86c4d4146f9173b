//! An application with OpenFeature's SDK for Rust and its OFREP provider.

use interop::{Application, serve};
use open_feature::{
    EvaluationContext, EvaluationDetails, EvaluationErrorCode, EvaluationResult, OpenFeature, StructValue,
    Value as Field,
};
use open_feature_ofrep::{OfrepOptions, OfrepProvider};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

struct Ofrep {
    runtime: Runtime,
}

impl Application for Ofrep {
    fn connect(&mut self, key: &str, name: &str, url: &str) -> bool {
        let authorization = HeaderValue::from_str(&format!("Bearer {key}")).unwrap();
        let options = OfrepOptions {
            base_url: url.to_owned(),
            headers: HeaderMap::from_iter([(AUTHORIZATION, authorization)]),
            ..OfrepOptions::default()
        };
        self.runtime.block_on(async {
            let provider = OfrepProvider::new(options).await.unwrap();
            OpenFeature::singleton_mut().await.set_named_provider(name, provider).await;
        });
        true
    }

    fn ask(&mut self, name: &str, question: &Value) -> Value {
        let (flag, fallback) = (question[0].as_str().unwrap(), &question[2]);
        let user = context_of(question[3].as_object().unwrap());
        self.runtime.block_on(async {
            let client = OpenFeature::singleton().await.create_named_client(name);
            match question[1].as_str().unwrap() {
                "boolean" => describe(client.get_bool_details(flag, Some(&user), None).await, fallback, Value::from),
                "string" => describe(client.get_string_details(flag, Some(&user), None).await, fallback, Value::from),
                "integer" => describe(client.get_int_details(flag, Some(&user), None).await, fallback, Value::from),
                "float" => describe(client.get_float_details(flag, Some(&user), None).await, fallback, Value::from),
                _ => {
                    let found = client.get_struct_details::<StructValue>(flag, Some(&user), None).await;
                    describe(found, fallback, |value| json_of(Field::Struct(value)))
                }
            }
        })
    }
}

/// The context as this SDK has it; it has no lists and no null.
fn context_of(user: &Map<String, Value>) -> EvaluationContext {
    let mut context = EvaluationContext::default();
    for (name, value) in user {
        context = match value {
            Value::String(text) if name == "targetingKey" => context.with_targeting_key(text),
            Value::String(text) => context.with_custom_field(name, text.as_str()),
            Value::Bool(value) => context.with_custom_field(name, *value),
            Value::Number(number) if number.is_i64() => context.with_custom_field(name, number.as_i64().unwrap()),
            Value::Number(number) => context.with_custom_field(name, number.as_f64().unwrap()),
            _ => panic!("{name} cannot be passed"),
        };
    }
    context
}

/// The answer, or the application's own default: this SDK leaves that to the application.
fn describe<T>(found: EvaluationResult<EvaluationDetails<T>>, fallback: &Value, read: fn(T) -> Value) -> Value {
    match found {
        Ok(found) => {
            let reason = found.reason.map(|reason| reason.to_string());
            json!({"value": read(found.value), "variant": found.variant, "reason": reason, "error": null})
        }
        Err(error) => {
            let code = match error.code {
                EvaluationErrorCode::General(_) => "GENERAL".to_owned(),
                code => code.to_string(),
            };
            json!({"value": fallback, "variant": null, "reason": "ERROR", "error": code})
        }
    }
}

fn json_of(value: Field) -> Value {
    match value {
        Field::Bool(value) => value.into(),
        Field::Int(value) => value.into(),
        Field::Float(value) => value.into(),
        Field::String(value) => value.into(),
        Field::Array(values) => values.into_iter().map(json_of).collect(),
        Field::Struct(value) => value.fields.into_iter().map(|(name, value)| (name, json_of(value))).collect(),
    }
}

fn main() {
    serve(Ofrep { runtime: Runtime::new().unwrap() });
}
