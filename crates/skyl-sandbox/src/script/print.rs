//! The canonical text of a script: outcome first, then the delivery verbs, then `*N`.

use std::fmt::{self, Display, Formatter};

use super::{BodyKind, Delivery, Outcome, Script, StatusFault, Step};

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            step.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.outcome.fmt(f)?;
        self.delivery.fmt(f)?;
        if self.times > 1 {
            write!(f, "*{}", self.times)?;
        }
        Ok(())
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Status(fault) => fault.fmt(f),
            Self::Reset => f.write_str("reset"),
            Self::Close => f.write_str("close"),
            Self::ResetMid => f.write_str("reset-mid"),
            Self::CloseMid => f.write_str("close-mid"),
            Self::FirstError => f.write_str("first-error"),
            Self::StreamTruncate(n) => write!(f, "stream-truncate({n})"),
            Self::StreamError(n) => write!(f, "stream-error({n})"),
            Self::StreamReset(n) => write!(f, "stream-reset({n})"),
            Self::StreamStall { after, wait } => {
                write!(f, "stream-stall({after};{})", wait.as_str())
            }
        }
    }
}

impl Display for StatusFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code)?;
        let mut args = Vec::new();
        if let Some(value) = &self.retry_after {
            args.push(format!("ra={}", value.as_str()));
        }
        if let Some(value) = &self.retry_after_ms {
            args.push(format!("ra-ms={}", value.as_str()));
        }
        if let Some(value) = self.retry_after_date {
            args.push(format!("ra-date={value:+}"));
        }
        if let Some(value) = &self.retry_after_raw {
            args.push(format!("ra-raw={value}"));
        }
        if let Some(value) = self.should_retry {
            args.push(format!("should-retry={value}"));
        }
        if self.body != BodyKind::Usual {
            args.push(format!("body={}", self.body));
        }
        if args.is_empty() {
            Ok(())
        } else {
            write!(f, "({})", args.join(";"))
        }
    }
}

impl Display for BodyKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Usual => "usual",
            Self::Quota => "quota",
            Self::Context => "context",
            Self::Overloaded => "overloaded",
            Self::Html => "html",
            Self::Empty => "empty",
            Self::Cut => "cut",
        })
    }
}

impl Display for Delivery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let waits = [
            ("stall", &self.stall),
            ("stall-mid", &self.stall_mid),
            ("slow", &self.slow),
        ];
        for (word, wait) in waits {
            if let Some(wait) = wait {
                write!(f, "+{word}({})", wait.as_str())?;
            }
        }
        if let Some(bytes) = self.split {
            write!(f, "+split({bytes})")?;
        }
        if let Some(wait) = &self.comments {
            write!(f, "+comments({})", wait.as_str())?;
        }
        Ok(())
    }
}
