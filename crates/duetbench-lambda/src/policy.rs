//! The least that must be allowed: what whoever runs `duet` may do, and who may use the role of the functions. That role itself has no
//! permissions at all, because code that is measured is not trusted.

use serde_json::{Value, json};

/// Name of the execution role unless another one is chosen.
pub const ROLE_NAME: &str = "duet-exec";

/// Where policies apply.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The region, as `eu-central-1`.
    pub region: &'a str,
    /// Twelve digits.
    pub account: &'a str,
    /// Name of the execution role, with its path if it has one; see [`ROLE_NAME`].
    pub role: &'a str,
    /// The bucket for large packages.
    pub bucket: Option<&'a str>,
}

impl Scope<'_> {
    /// The execution role, as `--role` takes it.
    #[must_use]
    pub fn role_arn(&self) -> String {
        format!("arn:{}:iam::{}:role/{}", self.partition(), self.account, self.role)
    }

    /// The part of AWS that a region belongs to.
    fn partition(&self) -> &'static str {
        match self.region {
            region if region.starts_with("cn-") => "aws-cn",
            region if region.starts_with("us-gov-") => "aws-us-gov",
            _ => "aws",
        }
    }
}

/// The account in the name of a role, `arn:aws:iam::ACCOUNT:role/…`.
#[must_use]
pub fn account_of(role_arn: &str) -> Option<&str> {
    let account = role_arn.strip_prefix("arn:")?.split(':').nth(3)?;
    (account.len() == 12 && account.bytes().all(|b| b.is_ascii_digit())).then_some(account)
}

/// The policy that allows what `duet compare --on lambda` needs, and nothing else; pretty JSON.
#[must_use]
pub fn coordinator(scope: &Scope<'_>) -> String {
    let partition = scope.partition();
    let mut statements = vec![
        json!({
            "Action": [
                "lambda:CreateFunction",
                "lambda:DeleteFunction",
                "lambda:GetFunction",
                "lambda:GetFunctionConfiguration",
                "lambda:InvokeFunction",
                "lambda:ListTags",
                "lambda:PutFunctionConcurrency",
                "lambda:TagResource"
            ],
            "Effect": "Allow",
            "Resource": format!("arn:{partition}:lambda:{}:{}:function:duet-*", scope.region, scope.account),
            "Sid": "DuetFunctions"
        }),
        json!({
            "Action": ["lambda:GetAccountSettings", "lambda:ListFunctions"],
            "Effect": "Allow",
            "Resource": "*",
            "Sid": "DuetLooks"
        }),
        json!({
            "Action": "iam:PassRole",
            "Condition": { "StringEquals": { "iam:PassedToService": "lambda.amazonaws.com" } },
            "Effect": "Allow",
            "Resource": scope.role_arn(),
            "Sid": "DuetRole"
        }),
    ];
    statements.extend(scope.bucket.map(|bucket| {
        json!({
            "Action": ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
            "Effect": "Allow",
            "Resource": format!("arn:{partition}:s3:::{bucket}/duet/*"),
            "Sid": "DuetPackages"
        })
    }));
    document(statements)
}

/// Who may use the execution role: Lambda. It is all that the role needs; no policy with permissions belongs to it. Pretty JSON.
#[must_use]
pub fn execution_trust() -> String {
    document(vec![json!({
        "Action": "sts:AssumeRole",
        "Effect": "Allow",
        "Principal": { "Service": "lambda.amazonaws.com" }
    })])
}

fn document(statements: Vec<Value>) -> String {
    format!("{:#}\n", json!({ "Statement": statements, "Version": "2012-10-17" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_found_in_a_role() {
        assert_eq!(account_of("arn:aws-cn:iam::123456789012:role/a/duet-exec"), Some("123456789012"));
        assert_eq!(account_of("arn:aws:iam::12345:role/x"), None);
        assert_eq!(account_of("duet-exec"), None);
    }

    #[test]
    fn other_partitions_have_names_of_their_own() {
        let scope = Scope { region: "us-gov-west-1", account: "123456789012", role: ROLE_NAME, bucket: Some("b") };
        let policy = coordinator(&scope);
        assert_eq!(policy.matches("arn:aws-us-gov:").count(), 3, "{policy}");
        assert!(!policy.contains("arn:aws:"), "{policy}");
    }
}
