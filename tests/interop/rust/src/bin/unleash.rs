//! An application with Unleash's SDK for Rust.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use interop::{Application, serve};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use unleash_api_client::Context;
use unleash_api_client::client::{Client, ClientBuilder, FeatureKey};

/// The client does not say that it failed.
const FETCH: Duration = Duration::from_secs(3);

/// No flag is known when this is compiled; their keys are passed as text.
#[derive(Clone, Copy, Debug)]
enum Known {}

impl FeatureKey for Known {
    fn name(self) -> &'static str {
        match self {}
    }
}

struct Unleash {
    runtime: Runtime,
    clients: HashMap<String, Arc<Client<Known>>>,
}

impl Application for Unleash {
    fn connect(&mut self, key: &str, name: &str, url: &str) -> bool {
        let builder = ClientBuilder::default().enable_string_features().interval(200);
        let client = builder.into_client::<Known>(url, name, name, Some(key.to_owned()));
        let client = Arc::new(client.unwrap());
        let polling = client.clone();
        self.runtime.spawn(async move {
            let _ = polling.register().await;
            polling.poll_for_updates().await;
        });
        self.clients.insert(name.to_owned(), client.clone());
        let began = Instant::now();
        while client.cached_state().is_none() && began.elapsed() < FETCH {
            sleep(Duration::from_millis(5));
        }
        client.cached_state().is_some()
    }

    fn ask(&mut self, name: &str, question: &Value) -> Value {
        let client = &self.clients[name];
        let flag = question[0].as_str().unwrap();
        let user: Context = serde_json::from_value(question[1].clone()).unwrap();
        let is_on = client.is_enabled_str(flag, Some(&user), false);
        let variant = client.get_variant_str(flag, &user);
        let payload = (!variant.payload.is_empty()).then_some(&variant.payload);
        json!([is_on, variant.enabled.then_some(&variant.name), payload])
    }
}

fn main() {
    serve(Unleash { runtime: Runtime::new().unwrap(), clients: HashMap::new() });
}
