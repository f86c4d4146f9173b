"""The tasks, with the client that openapi-python-client generates."""

import json
import sys
from datetime import UTC, datetime, timedelta

from flagstaff_client import AuthenticatedClient, Client
from flagstaff_client.api.access_tokens import create_my_token
from flagstaff_client.api.accounts import log_in, register
from flagstaff_client.api.audit import list_project_changes, restore_change
from flagstaff_client.api.comparisons import copy_flags
from flagstaff_client.api.environments import create_environment, list_environments
from flagstaff_client.api.evaluation import evaluate
from flagstaff_client.api.explanations import explain
from flagstaff_client.api.flags import create_flag, get_flag, toggle_flag
from flagstaff_client.api.projects import create_project, delete_project, get_project
from flagstaff_client.api.releases import create_release
from flagstaff_client.api.targeting_rules import create_rule
from flagstaff_client.models import (
    ChangeAction,
    Changes,
    ConditionBody,
    Context,
    ContextCustomAttributes,
    CopyBody,
    EvaluateBody,
    Explain,
    Fallthrough,
    FlagDraft,
    Login,
    NewAttributesRule,
    NewEnvironment,
    NewFlag,
    NewProject,
    NewRelease,
    NewToken,
    NewUserIdRule,
    Operator,
    Permission,
    Registration,
    RuleChange,
    RuleDraft,
    RuleType,
    StepAfter,
    StepAt,
)

url, email, password = sys.argv[1:]
with Client(base_url=url) as anyone:
    register.sync(client=anyone, body=Registration(email=email, password=password))
    session = log_in.sync(client=anyone, body=Login(email=email, password=password))
ada = AuthenticatedClient(base_url=url, token=session.token)

project = create_project.sync(client=ada, body=NewProject(name="Web shop"))
canary = create_environment.sync(project.id, client=ada, body=NewEnvironment(name="Canary", key="canary"))
environments = {each.key: each.id for each in list_environments.sync(project.id, client=ada)}

new_flag = NewFlag(name="New checkout", key="new-checkout", fallthrough=Fallthrough.OFF)
flag = create_flag.sync(project.id, canary.id, client=ada, body=new_flag)
place = (project.id, canary.id, flag.id)
portugal = ConditionBody(attribute="country", operator=Operator.IN, values=["PT"])
many = ConditionBody(attribute="orders", operator=Operator.EQ, values=["many"])
refused = create_rule.sync(*place, client=ada, body=NewAttributesRule(rule_type="attributes", conditions=[many]))
rule = create_rule.sync(*place, client=ada, body=NewAttributesRule(rule_type="attributes", conditions=[portugal]))
toggle_flag.sync(*place, client=ada)

application = AuthenticatedClient(base_url=url, token=project.sdk_key, prefix="", auth_header_name="X-SDK-Key")


def result_in(country: str) -> list:
    attributes = ContextCustomAttributes.from_dict({"country": country})
    context = Context(user_id="user-42", custom_attributes=attributes)
    answer = evaluate.sync(client=application, body=EvaluateBody(environment="canary", context=context))
    found = answer.flags["new-checkout"]
    return [found.enabled, found.reason]


results = [result_in("PT"), result_in("ES")]

half = StepAfter(after_seconds=3600, changes=Changes(rules=[RuleChange(id=rule.id, rollout_percentage=50)]))
testers = NewUserIdRule(rule_type="user_id", rule_value="user-7")
tomorrow = datetime.now(UTC) + timedelta(days=1)
everyone = StepAt(at=tomorrow, changes=Changes(fallthrough=Fallthrough.ROLLOUT, rules=[testers]))
release = create_release.sync(*place, client=ada, body=NewRelease(steps=[half, everyone]))

page = list_project_changes.sync(project.id, client=ada, action=ChangeAction.FLAG_TOGGLED)
restore_change.sync(project.id, page.items[0].id, client=ada)
undone = get_flag.sync(*place, client=ada)
trail = list_project_changes.sync(project.id, client=ada)

copy_body = CopyBody(from_=canary.id, to=environments["production"], flag_keys=["new-checkout"], dry_run=True)
copied = copy_flags.sync(project.id, client=ada, body=copy_body)

drafted = RuleDraft(rule_type=RuleType.USER_ID, rule_value="user-42")
draft = FlagDraft(name="New checkout", key="new-checkout", enabled=True, rules=[drafted])
asked = Explain(context=Context(user_id="user-42"), flag=draft)
explained = explain.sync(project.id, canary.id, client=ada, body=asked)

wanted = NewToken(
    name="Deployments", permissions=[Permission.FLAGSREAD, Permission.FLAGSTOGGLE], current_password=password
)
token = create_my_token.sync(client=ada, body=wanted)
deployments = AuthenticatedClient(base_url=url, token=token.token)
toggled = toggle_flag.sync(*place, client=deployments)
forbidden = create_project.sync(client=deployments, body=NewProject(name="Another"))

deleted = delete_project.sync_detailed(project.id, client=ada)
missing = get_project.sync(project.id, client=ada)

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
    "deleted": [deleted.status_code, missing.status],
}
json.dump(done, sys.stdout)
