//! Reads commands as lines of JSON and answers each with one line:
//!
//! `{"connect": key, "name": name, "url": url}` is answered with `{"connected": whether it got any flags, if that is
//! known}`, and `{"ask": [question, ...], "name": name}` with a list of answers.

use serde_json::{Value, json};

/// An application with clients by name.
pub trait Application {
    fn connect(&mut self, key: &str, name: &str, url: &str) -> bool;
    fn ask(&mut self, name: &str, question: &Value) -> Value;
}

/// Answers commands until there are no more.
pub fn serve(mut application: impl Application) {
    for line in std::io::stdin().lines() {
        let command: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let name = command["name"].as_str().unwrap();
        let answer = match command["connect"].as_str() {
            Some(key) => json!({"connected": application.connect(key, name, command["url"].as_str().unwrap())}),
            None => {
                let questions = command["ask"].as_array().unwrap();
                questions.iter().map(|question| application.ask(name, question)).collect()
            }
        };
        println!("{answer}");
    }
}
