"""The tasks, with the models that datamodel-code-generator makes for Pydantic, and HTTPX, as its users write them."""

import json
import sys
from datetime import UTC, datetime, timedelta

import httpx
from flagstaff_models import (
    Changes,
    ChangesPageOut,
    ConditionBody,
    Context,
    CopyBody,
    CopyOut,
    CreatedTokenOut,
    EnvironmentItem,
    EnvironmentOut,
    EvaluateBody,
    EvaluateOut,
    Explain,
    ExplanationOut,
    FlagDraft,
    FlagOut,
    Login,
    NewAttributesRule,
    NewEnvironment,
    NewFlag,
    NewProject,
    NewRelease,
    NewRule,
    NewToken,
    NewUserIdRule,
    ProblemDocument,
    ProjectOut,
    Registration,
    ReleaseOut,
    RestoreBody,
    RuleChange,
    RuleDraft,
    RuleEdit,
    RuleOut,
    StepAfter,
    StepAt,
    StepBody,
    TokenOut,
)
from pydantic import BaseModel

url, email, password = sys.argv[1:]


class Caller:
    """A client with these headers, which sends models and reads them."""

    def __init__(self, **headers: str) -> None:
        self._client = httpx.Client(base_url=url, headers=headers)

    def post(self, path: str, body: BaseModel | None = None) -> dict:
        """The answer to a body, in which members stand that were set."""
        content = body and body.model_dump_json(by_alias=True, exclude_unset=True)
        return self._client.post(path, content=content, headers={"Content-Type": "application/json"}).json()

    def get(self, path: str, **query: str) -> dict | list:
        """The answer to a query."""
        return self._client.get(path, params=query).json()

    def delete(self, path: str) -> int:
        """The status of a deletion."""
        return self._client.delete(path).status_code


anyone = Caller()
anyone.post("/auth/register", Registration(email=email, password=password))
session = TokenOut.model_validate(anyone.post("/auth/login", Login(email=email, password=password)))
ada = Caller(Authorization=f"Bearer {session.token}")

project = ProjectOut.model_validate(ada.post("/api/projects", NewProject(name="Web shop")))
inside = f"/api/projects/{project.id}"
new_environment = NewEnvironment(name="Canary", key="canary")
canary = EnvironmentOut.model_validate(ada.post(f"{inside}/environments", new_environment))
listed = [EnvironmentItem.model_validate(each) for each in ada.get(f"{inside}/environments")]
environments = {each.key: each.id for each in listed}

new_flag = NewFlag(name="New checkout", key="new-checkout", fallthrough="off")
flag = FlagOut.model_validate(ada.post(f"{inside}/environments/{canary.id}/flags", new_flag))
place = f"{inside}/environments/{canary.id}/flags/{flag.id}"


def rule_of(condition: ConditionBody) -> NewRule:
    return NewRule(NewAttributesRule(rule_type="attributes", conditions=[condition]))


many = ConditionBody(attribute="orders", operator="eq", values=["many"])
refused = ProblemDocument.model_validate(ada.post(f"{place}/rules", rule_of(many)))
portugal = ConditionBody(attribute="country", operator="in", values=["PT"])
rule = RuleOut.model_validate(ada.post(f"{place}/rules", rule_of(portugal)))
ada.post(f"{place}/toggle")

application = Caller(**{"X-SDK-Key": project.sdk_key})


def result_in(country: str) -> list:
    context = Context(user_id="user-42", custom_attributes={"country": country})
    body = EvaluateBody(environment="canary", context=context)
    found = EvaluateOut.model_validate(application.post("/sdk/v1/evaluate", body)).flags["new-checkout"]
    return [found.enabled, found.reason]


results = [result_in("PT"), result_in("ES")]

half = Changes(rules=[RuleEdit(RuleChange(id=rule.id, rollout_percentage=50))])
testers = NewRule(NewUserIdRule(rule_type="user_id", rule_value="user-7"))
everyone = Changes(fallthrough="rollout", rules=[RuleEdit(testers)])
tomorrow = datetime.now(UTC) + timedelta(days=1)
steps = [StepBody(StepAfter(after_seconds=3600, changes=half)), StepBody(StepAt(at=tomorrow, changes=everyone))]
release = ReleaseOut.model_validate(ada.post(f"{place}/releases", NewRelease(steps=steps)))

page = ChangesPageOut.model_validate(ada.get(f"{inside}/changes", action="flag.toggled"))
ada.post(f"{inside}/changes/{page.items[0].id}/restore", RestoreBody(if_unchanged=True))
undone = FlagOut.model_validate(ada.get(place))
trail = ChangesPageOut.model_validate(ada.get(f"{inside}/changes"))

places = {"from": canary.id, "to": environments["production"]}  # one of them is a keyword of Python
copy_body = CopyBody(**places, flag_keys=["new-checkout"], dry_run=True)
copied = CopyOut.model_validate(ada.post(f"{inside}/copy", copy_body))

drafted = RuleDraft(rule_type="user_id", rule_value="user-42")
draft = FlagDraft(name="New checkout", key="new-checkout", enabled=True, rules=[drafted])
asked = Explain(context=Context(user_id="user-42"), flag=draft)
explained = ExplanationOut.model_validate(ada.post(f"{inside}/environments/{canary.id}/explain", asked))

wanted = NewToken(name="Deployments", permissions=["flags:read", "flags:toggle"], current_password=password)
token = CreatedTokenOut.model_validate(ada.post("/api/me/tokens", wanted))
deployments = Caller(Authorization=f"Bearer {token.token}")
toggled = FlagOut.model_validate(deployments.post(f"{place}/toggle"))
forbidden = ProblemDocument.model_validate(deployments.post("/api/projects", NewProject(name="Another")))

deleted = ada.delete(inside)
missing = ProblemDocument.model_validate(ada.get(inside))

done = {
    "environments": sorted(environments),
    "refused": [refused.status, refused.errors[0].field],
    "results": results,
    "steps": [[each.after_seconds, each.at is not None] for each in release.steps],
    "undone": undone.enabled,
    "trail": [each.action for each in trail.items],
    "copied": [each.flag_key for each in copied.alterations],
    "explained": explained.flags[0].enabled,
    "toggled": toggled.enabled,
    "forbidden": [forbidden.status, forbidden.permission],
    "deleted": [deleted, missing.status],
}
json.dump(done, sys.stdout)
