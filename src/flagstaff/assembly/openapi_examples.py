"""An example of each request body in the OpenAPI document, by the name of its schema, or several by what they show."""

from typing import Any

_STAGING, _PRODUCTION, _FLAG, _RULE, _PROJECT = (
    f"01a1fb68-78d6-72a0-9594-00000000000{number}" for number in range(1, 6)
)
_PASSWORD = "correct horse battery staple"  # noqa: S105 - as in the README
_ACCOUNT = {"email": "ada@example.com", "password": _PASSWORD}
_SOON, _LATER = "2026-11-20T10:00:00Z", "2026-12-20T10:00:00Z"
_CONTEXT = {"user_id": "user-42", "user_email": "ada@example.com", "custom_attributes": {"country": "PT"}}
_PORTUGAL = {"attribute": "country", "operator": "in", "values": ["PT"]}
_SEARCH = {"tag": "checkout", "state": "on", "sort": "changed"}
_WEBHOOK = {"url": "https://example.com/hooks", "events": ["flag.*", "rule.*"], "environments": ["production"]}
_INSTANCE_WEBHOOK = {"url": "https://example.com/hooks", "events": ["instance.*", "history.behind"]}
_NEW_FLAG = {"name": "New checkout", "key": "new-checkout", "enabled": True, "rollout_percentage": 25}
_DRAFT = {**_NEW_FLAG, "rules": [{"rule_type": "email_domain", "rule_value": "acme.com"}]}
# What a browser returns for a passkey.
_CREDENTIAL = {"id": "AbCd", "rawId": "AbCd", "type": "public-key", "response": {"clientDataJSON": "e30"}}

EXAMPLES: dict[str, dict[str, Any]] = {
    "Acceptance": {"token": "Zp3wV8Yc"},
    "AccountDeletion": {"current_password": _PASSWORD},
    "AccountUpdate": {"active": False},
    "AskAnswers": {"context": _CONTEXT, "search": "checkout"},
    "AskPlayground": {"environment_ids": [_STAGING, _PRODUCTION], "users": [_CONTEXT, {"user_id": "user-7"}]},
    "BulkBody": {"flags": [_FLAG], "action": "add_tags", "tags": ["checkout"]},
    "CommentUpdate": {"text": "Halved the errors, see the dashboard of payments."},
    "CopyBody": {
        "from": _STAGING,
        "to": _PRODUCTION,
        "flag_keys": ["new-checkout"],
        "parts": ["rules"],
        "dry_run": True,
    },
    "EnvironmentOrder": {"environment_ids": [_PRODUCTION, _STAGING]},
    "EnvironmentUpdate": {"name": "Production EU", "critical": True},
    "EvaluateBody": {"environment": "production", "context": _CONTEXT},
    "EventsBody": {"environment": "production", "events": [{"metric": "checkout-error", "user_id": "user-42"}]},
    "Explain": {"context": _CONTEXT, "flag_keys": ["new-checkout"]},
    "FindCauses": {
        "results": [{"flag_key": "new-checkout", "before_evaluation_id": _STAGING, "after_evaluation_id": _FLAG}]
    },
    "FlagUpdate": {"enabled": True, "rollout_percentage": 25},
    "InstanceSettingsUpdate": {"registration": "closed"},
    "InstanceWebhookFilter": {"events": ["instance.*"]},
    "InstanceWebhookUpdate": {"enabled": False},
    "Login": _ACCOUNT,
    "MemberUpdate": {"role": "viewer", "environments": {"staging": "editor"}},
    "MetricUpdate": {"name": "Checkout errors"},
    "NewComment": {"text": "Ada, this is on for 25% of users now."},
    "NewEnvironment": {"name": "Canary", "key": "canary", "copy_from": _PRODUCTION, "all_off": True},
    "NewErasure": {"user_id": "user-42", "confirmation": "AaIdLfRcdByOPsJwY2ltZQ"},
    "NewFlag": _NEW_FLAG,
    "NewFlags": {**_NEW_FLAG, "environments": [_STAGING, _PRODUCTION]},
    "NewInstanceWebhook": _INSTANCE_WEBHOOK,
    "NewInvitation": {"email": "grace@example.com", "role": "editor"},
    "NewMembership": {"project_id": _PROJECT, "role": "viewer"},
    "NewMetric": {"key": "checkout-error", "name": "Checkout errors", "kind": "binary", "better": "down"},
    "NewPasskey": {"name": "Laptop", "credential": _CREDENTIAL},
    "NewPinnedChart": {"name": "Checkout", "environment_id": _PRODUCTION, "flag_id": _FLAG, "period": "week"},
    "NewProject": {"name": "Web shop", "description": "Everything that customers see."},
    "NewSchedules": {"at": _SOON, "flags": [{"flag_id": _FLAG, "changes": {"enabled": True}}]},
    "NewSdkKey": {"name": "Web shop, server", "environment": "production", "kind": "server"},
    "NewSegment": {"key": "portugal", "name": "Portugal", "conditions": [_PORTUGAL]},
    "NewSignIn": {"return_to": "/projects"},
    "NewSubscription": {"environment_id": _PRODUCTION, "flag_id": _FLAG},
    "NewToken": {
        "name": "Deployments",
        "permissions": ["flags:read", "flags:toggle"],
        "environments": [_STAGING],
        "expires_at": _LATER,
        "current_password": _PASSWORD,
    },
    "NewTrailDeletion": {"name": "Web shop"},
    "NewView": {"name": "Checkout", "search": _SEARCH},
    "NewWebhook": _WEBHOOK,
    "NotificationsUpdate": {"critical": True, "stale": False},
    "PasskeyLogin": {"credential": _CREDENTIAL},
    "PasswordChange": {"current_password": _PASSWORD, "new_password": "battery staple correct horse"},
    "PasswordConfirmation": {"current_password": _PASSWORD},
    "PasswordReset": {"token": "Zp3wV8Yc", "newPassword": "battery staple correct horse"},
    "EmailVerificationLink": {"token": "Zp3wV8Yc"},
    "PinnedChartUpdate": {"period": "month", "compare_before": True},
    "PreviewImpact": {"flag": _DRAFT},
    "ProjectUpdate": {"name": "Shop"},
    "Registration": _ACCOUNT,
    "RepeatBody": {"from": _SOON, "to": _LATER},
    "ResetRequest": {"email": "ada@example.com"},
    "RestoreAllBody": {"changes": ["815", "816"], "dry_run": True},
    "RestoreBody": {"dry_run": True},
    "RuleUpdate": {"priority": 10, "rollout_percentage": 50},
    "SecondFactorLogin": {"challenge": "eyJhbGciOi", "code": "492039"},
    "SdkKeyUpdate": {"allowed_origins": ["https://shop.example.com", "https://*.preview.example.com"]},
    "SecurityUpdate": {"demands_second_factor": True},
    "SegmentUpdate": {"conditions": [{**_PORTUGAL, "values": ["PT", "ES"]}]},
    "SignInAnswer": {"state": "Zp3wV8Yc", "code": "SplxlOBeZQQYbYS6WxSbIA", "binding": "Zp3wV8Yc"},
    "TotpConfirmation": {"code": "492039"},
    "TotpRemoval": {"current_password": _PASSWORD, "code": "492039"},
    "ViewUpdate": {"search": _SEARCH},
    "WebhookFilter": {"events": ["flag.toggled"], "environments": ["production"]},
    "WebhookUpdate": {"events": ["flag.toggled"]},
    "UserOfApplication": {"user_id": "user-42", "user_email": "ada@example.com"},
}
SEVERAL: dict[str, dict[str, Any]] = {
    "AskedOutlook": {
        "release": {
            "steps": [
                {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 10}},
                {"after_seconds": 86400, "changes": {"rollout_percentage": 100}},
            ],
            "guards": [{"metric": "checkout-error", "action": "turn_off"}],
            "assumes": {"users_per_day": 1400, "metrics": [{"metric": "checkout-error", "rate": 0.02}]},
        },
    },
    "NewRelease": {
        "release": {
            "name": "New checkout",
            "steps": [
                {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 5}},
                {"after_seconds": 3600, "least_users": 500, "changes": {"rollout_percentage": 50}},
                {"after_seconds": 86400, "changes": {"rollout_percentage": 100}},
            ],
            "guards": [{"metric": "checkout-error", "action": "turn_off"}],
            "thresholds": [{"request_metric": "checkout_seconds", "measure": "p95", "above": 2, "action": "pause"}],
        },
        "schedule": {"steps": [{"at": _SOON, "changes": {"enabled": True, "rules": [{"id": _RULE, "delete": True}]}}]},
    },
    "NewRule": {
        "user_id": {"rule_type": "user_id", "rule_value": "user-42"},
        "user_email": {"rule_type": "user_email", "rule_value": "ada@example.com"},
        "email_domain": {"rule_type": "email_domain", "rule_value": "acme.com", "priority": 10},
        "attributes": {"rule_type": "attributes", "conditions": [_PORTUGAL], "rollout_percentage": 20},
        "segment": {"rule_type": "segment", "rule_value": "portugal"},
    },
}
