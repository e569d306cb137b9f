//! The request, in no provider's words, and what can be checked of it before any network.

use std::fmt;

use serde_json::{Map, Value};

use crate::dialect::Fault;
use crate::kind::ErrorKind;
use crate::message::{Image, Message, Part, Role};

/// A request to a model.
///
/// Everything but the model and the messages is optional; what is not set is not sent.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The model's name: opaque, never checked against a list.
    pub model: String,
    /// The system prompt.
    pub system: Option<String>,
    /// The conversation, oldest turn first.
    pub messages: Vec<Message>,
    /// The most tokens of the answer, reasoning included; above 0.
    ///
    /// Default: the provider's (Anthropic: by model).
    pub max_tokens: Option<u32>,
    /// Sampling temperature: finite, from 0. Default: the provider's, and so is the upper end.
    pub temperature: Option<f64>,
    /// Nucleus sampling: finite, from 0. Default: the provider's, and so is the upper end.
    pub top_p: Option<f64>,
    /// Texts that end the answer. Default: none.
    pub stop: Vec<String>,
    /// The tools the model may call, each under a name of its own. Default: none.
    pub tools: Vec<Tool>,
    /// Whether and which tool must be called. Default: the model's choice.
    pub tool_choice: Option<ToolChoice>,
    /// Whether several tools may be called at once. Default: the provider's.
    pub parallel_tool_calls: Option<bool>,
    /// How hard the model should think. Default: the provider's.
    pub reasoning_effort: Option<Effort>,
    /// The shape of the answer. Default: prose.
    pub response_format: Option<ResponseFormat>,
    /// Fields in the provider's own words, merged into the body last (RFC 7396: `null` removes).
    pub provider_options: Map<String, Value>,
}

impl Request {
    /// A request without messages; add them with [`Request::user`] or [`Request::message`].
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            ..Self::default()
        }
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Adds a user turn of one text.
    #[must_use]
    pub fn user(self, text: impl Into<String>) -> Self {
        self.message(Message::user(text))
    }

    /// Adds a turn.
    #[must_use]
    pub fn message(mut self, message: Message) -> Self {
        self.messages.push(message);
        self
    }

    /// Limits the answer, in tokens, reasoning included. Zero is refused.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets the sampling temperature: finite, from 0. Zero is the least random.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets nucleus sampling: finite, from 0.
    #[must_use]
    pub fn top_p(mut self, top_p: f64) -> Self {
        self.top_p = Some(top_p);
        self
    }

    /// Adds a text that ends the answer.
    #[must_use]
    pub fn stop(mut self, text: impl Into<String>) -> Self {
        self.stop.push(text.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sets whether and which tool must be called.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Sets whether several tools may be called at once.
    #[must_use]
    pub fn parallel_tool_calls(mut self, allowed: bool) -> Self {
        self.parallel_tool_calls = Some(allowed);
        self
    }

    /// Sets how hard the model should think.
    #[must_use]
    pub fn reasoning_effort(mut self, effort: impl Into<Effort>) -> Self {
        self.reasoning_effort = Some(effort.into());
        self
    }

    /// Sets the shape of the answer.
    #[must_use]
    pub fn response_format(mut self, format: ResponseFormat) -> Self {
        self.response_format = Some(format);
        self
    }

    /// Sets one field in the provider's own words; `null` removes what skyl would send.
    #[must_use]
    pub fn provider_option(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.provider_options.insert(name.into(), value.into());
        self
    }

    /// Checks everything that is wrong on every provider, before any network.
    ///
    /// # Errors
    /// A [`Fault`] of kind `BadRequest` that names the place, such as `message 2 part 0: …`.
    pub fn validate(&self) -> Result<(), Fault> {
        let refuse = |text: String| Err(Fault::new(ErrorKind::BadRequest).with_message(text));
        if self.model.trim().is_empty() {
            return refuse("model is empty".to_owned());
        }
        if self.messages.is_empty() {
            return refuse("there are no messages".to_owned());
        }
        if self.max_tokens == Some(0) {
            return refuse("max_tokens is 0; leave it out for the provider's default".to_owned());
        }
        for (name, value) in [("temperature", self.temperature), ("top_p", self.top_p)] {
            if value.is_some_and(|v| !v.is_finite() || v < 0.0) {
                return refuse(format!("{name} must be a finite number of at least 0"));
            }
        }
        for (m, message) in self.messages.iter().enumerate() {
            if message.parts.is_empty() {
                return refuse(format!("message {m} has no parts"));
            }
            for (p, part) in message.parts.iter().enumerate() {
                if let Err(why) = check_part(message.role, part) {
                    return refuse(format!("message {m} part {p}: {why}"));
                }
            }
        }
        for (t, tool) in self.tools.iter().enumerate() {
            if tool.name.is_empty() {
                return refuse(format!("tool {t} has no name"));
            }
            if !tool.parameters.is_object() {
                return refuse(format!("tool {t}: parameters must be a JSON schema object"));
            }
            if self.tools[..t]
                .iter()
                .any(|earlier| earlier.name == tool.name)
            {
                return refuse(format!("tool {t}: the name `{}` is taken", tool.name));
            }
        }
        if let Some(ToolChoice::Tool(name)) = &self.tool_choice
            && !self.tools.iter().any(|tool| &tool.name == name)
        {
            return refuse(format!(
                "tool choice names `{name}`, which is not among the tools"
            ));
        }
        if self.tool_choice == Some(ToolChoice::Required) && self.tools.is_empty() {
            return refuse("tool choice requires a tool, and there are none".to_owned());
        }
        if let Some(ResponseFormat::JsonSchema { schema, .. }) = &self.response_format
            && schema.as_object().is_none_or(Map::is_empty)
        {
            return refuse(
                "response format: the schema must be an object that says something".to_owned(),
            );
        }
        Ok(())
    }
}

/// Which parts may stand in which turn, and what each must carry.
fn check_part(role: Role, part: &Part) -> Result<(), &'static str> {
    let (at_home, misplaced) = match part {
        Part::Text(_) => (role != Role::Tool, "a tool turn holds tool results only"),
        Part::Image(_) => (role == Role::User, "images belong in user turns"),
        Part::ToolCall(_) => (
            role == Role::Assistant,
            "tool calls belong in assistant turns",
        ),
        Part::ToolResult(_) => (role == Role::Tool, "tool results belong in tool turns"),
        Part::Reasoning(_) => (
            role == Role::Assistant,
            "reasoning belongs in assistant turns",
        ),
    };
    if !at_home {
        return Err(misplaced);
    }
    let (whole, missing) = match part {
        Part::Image(Image::Data { media_type, .. }) if media_type.is_empty() => {
            (false, "image data needs a media type")
        }
        Part::Image(Image::Data { data, .. }) => (!data.is_empty(), "image data is empty"),
        Part::Image(Image::Url(url)) => (!url.is_empty(), "image address is empty"),
        Part::ToolCall(call) if call.id.is_empty() || call.name.is_empty() => {
            (false, "a tool call needs an id and a name")
        }
        Part::ToolCall(call) => (
            call.is_whole(),
            "a tool call's arguments must be one JSON object",
        ),
        Part::ToolResult(result) => (!result.call_id.is_empty(), "a tool result needs a call id"),
        Part::Text(_) | Part::Reasoning(_) => (true, ""),
    };
    if whole { Ok(()) } else { Err(missing) }
}

// The prompt stays out of debug prints; see `message`.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("model", &self.model)
            .field("system", &self.system.as_ref().map(String::len))
            .field("messages", &self.messages)
            .field("max_tokens", &self.max_tokens)
            .field("temperature", &self.temperature)
            .field("top_p", &self.top_p)
            .field(
                "tools",
                &self.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
            )
            .field(
                "provider_options",
                &self.provider_options.keys().collect::<Vec<_>>(),
            )
            .finish_non_exhaustive()
    }
}

/// A tool the model may call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// The name calls will carry.
    pub name: String,
    /// What the tool does, for the model.
    pub description: Option<String>,
    /// A JSON schema object for the arguments.
    pub parameters: Value,
    /// Whether the provider must hold arguments to the schema. Default: the provider's.
    pub strict: Option<bool>,
}

impl Tool {
    /// A tool with a JSON schema object for its arguments.
    #[must_use]
    pub fn new(name: impl Into<String>, parameters: Value) -> Self {
        Self {
            name: name.into(),
            description: None,
            parameters,
            strict: None,
        }
    }

    /// Says what the tool does.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Asks the provider to hold arguments to the schema, or not to.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self
    }
}

/// Whether and which tool must be called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// No tool may be called.
    None,
    /// Some tool must be called.
    Required,
    /// This tool must be called.
    Tool(String),
}

/// How hard the model should think: the providers' words, open to new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effort {
    /// No reasoning.
    None,
    /// As little as the model can.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// More than much, where the provider has it.
    XHigh,
    /// All the model can.
    Max,
    /// A word skyl does not know, passed through.
    Other(String),
}

impl Effort {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
            Self::Other(word) => word,
        }
    }
}

impl From<&str> for Effort {
    fn from(word: &str) -> Self {
        match word {
            "none" => Self::None,
            "minimal" => Self::Minimal,
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "xhigh" => Self::XHigh,
            "max" => Self::Max,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// The shape of the answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ResponseFormat {
    /// Any JSON value.
    JsonObject,
    /// JSON that fits a schema.
    JsonSchema {
        /// A name for the schema; providers that want one get `response` where it is empty.
        name: String,
        /// The JSON schema object.
        schema: Value,
        /// Whether the provider must hold the answer to the schema. Default of the helper: true.
        strict: bool,
    },
}

impl ResponseFormat {
    /// A strict JSON schema named `response`.
    #[must_use]
    pub fn json_schema(schema: Value) -> Self {
        Self::JsonSchema {
            name: "response".to_owned(),
            schema,
            strict: true,
        }
    }
}

#[cfg(test)]
mod tests;
