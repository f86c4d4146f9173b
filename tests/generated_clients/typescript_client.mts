// The tasks, with the types that openapi-typescript generates, and openapi-fetch.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Schemas = components["schemas"];

declare const process: { readonly argv: readonly string[] };
const [baseUrl = "", email = "", password = ""] = process.argv.slice(2);

/** What was answered; throws the problem if the request was refused. */
async function answered<T>(request: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  const { data, error } = await request;
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

/** How a request was refused. */
async function refusal(request: Promise<{ error?: Schemas["ProblemDocument"] }>): Promise<Schemas["ProblemDocument"]> {
  const { error } = await request;
  if (error === undefined) throw new Error("It was not refused.");
  return error;
}

function clientOf(headers: Record<string, string> = {}) {
  return createClient<paths>({ baseUrl, headers });
}

const anyone = clientOf();
await answered(anyone.POST("/auth/register", { body: { email, password } }));
const session = await answered(anyone.POST("/auth/login", { body: { email, password } }));
const ada = clientOf({ Authorization: `Bearer ${session.token}` });

const project = await answered(ada.POST("/api/projects", { body: { name: "Web shop" } }));
const inProject = { path: { project_id: project.id } };
const canary = await answered(
  ada.POST("/api/projects/{project_id}/environments", { params: inProject, body: { name: "Canary", key: "canary" } }),
);
const environments = await answered(ada.GET("/api/projects/{project_id}/environments", { params: inProject }));
const inCanary = { path: { ...inProject.path, env_id: canary.id } };

const FLAGS = "/api/projects/{project_id}/environments/{env_id}/flags";
const newFlag: Schemas["NewFlag"] = { name: "New checkout", key: "new-checkout", fallthrough: "off" };
const flag = await answered(ada.POST(FLAGS, { params: inCanary, body: newFlag }));
const ofFlag = { path: { ...inCanary.path, flag_id: flag.id } };

const many: Schemas["ConditionBody"] = { attribute: "orders", operator: "eq", values: ["many"] };
const portugal: Schemas["ConditionBody"] = { attribute: "country", operator: "in", values: ["PT"] };
const create = (condition: Schemas["ConditionBody"]) =>
  ada.POST(`${FLAGS}/{flag_id}/rules`, { params: ofFlag, body: { rule_type: "attributes", conditions: [condition] } });
// @ts-expect-error -- Without conditions, the rule would be for everyone.
({ rule_type: "attributes" }) satisfies Schemas["NewRule"];
const refused = await refusal(create(many));
const rule = await answered(create(portugal));
await answered(ada.POST(`${FLAGS}/{flag_id}/toggle`, { params: ofFlag }));

const application = clientOf({ "X-SDK-Key": project.sdk_key ?? "" });
async function resultIn(country: string): Promise<[boolean, string]> {
  const context = { user_id: "user-42", custom_attributes: { country } };
  const answer = await answered(application.POST("/sdk/v1/evaluate", { body: { environment: "canary", context } }));
  const found = answer.flags["new-checkout"];
  if (found === undefined) throw new Error("There is no such flag.");
  return [found.enabled, found.reason];
}
const results = [await resultIn("PT"), await resultIn("ES")];

const half: Schemas["StepBody"] = {
  after_seconds: 3600,
  changes: { rules: [{ id: rule.id, rollout_percentage: 50 }] },
};
const everyone: Schemas["StepBody"] = {
  at: new Date(Date.now() + 86_400_000).toISOString(),
  changes: { fallthrough: "rollout", rules: [{ rule_type: "user_id", rule_value: "user-7" }] },
};
const release = await answered(
  ada.POST(`${FLAGS}/{flag_id}/releases`, { params: ofFlag, body: { steps: [half, everyone] } }),
);

const CHANGES = "/api/projects/{project_id}/changes";
const page = await answered(ada.GET(CHANGES, { params: { ...inProject, query: { action: "flag.toggled" } } }));
const [toggle] = page.items;
if (toggle === undefined) throw new Error("The toggle is not in the audit trail.");
const restored = { path: { ...inProject.path, change_id: toggle.id } };
await answered(ada.POST(`${CHANGES}/{change_id}/restore`, { params: restored }));
const undone = await answered(ada.GET(`${FLAGS}/{flag_id}`, { params: ofFlag }));
const trail = await answered(ada.GET(CHANGES, { params: inProject }));

const production = environments.find(({ key }) => key === "production");
const copied = await answered(
  ada.POST("/api/projects/{project_id}/copy", {
    params: inProject,
    body: { from: canary.id, to: production?.id ?? "", flag_keys: [flag.key], dry_run: true },
  }),
);

const draft: Schemas["FlagDraft"] = {
  name: "New checkout",
  key: "new-checkout",
  enabled: true,
  rules: [{ rule_type: "user_id", rule_value: "user-42" }],
};
const explained = await answered(
  ada.POST("/api/projects/{project_id}/environments/{env_id}/explain", {
    params: inCanary,
    body: { context: { user_id: "user-42" }, flag: draft },
  }),
);

const wanted: Schemas["NewToken"] = { name: "Deployments", permissions: ["flags:read", "flags:toggle"], current_password: password };
const { token } = await answered(ada.POST("/api/me/tokens", { body: wanted }));
const deployments = clientOf({ Authorization: `Bearer ${token}` });
const toggled = await answered(deployments.POST(`${FLAGS}/{flag_id}/toggle`, { params: ofFlag }));
const forbidden = await refusal(deployments.POST("/api/projects", { body: { name: "Another" } }));

const deleted = await ada.DELETE("/api/projects/{project_id}", { params: inProject });
const missing = await refusal(ada.GET("/api/projects/{project_id}", { params: inProject }));

const done = {
  environments: environments.map(({ key }) => key).sort(),
  refused: [refused.status, refused.errors?.[0]?.field],
  results,
  steps: release.steps.map(({ at, after_seconds }) => [after_seconds, at !== null && at !== undefined]),
  undone: undone.enabled,
  trail: trail.items.map(({ action }) => action),
  copied: copied.alterations.map(({ flag_key }) => flag_key),
  explained: explained.flags[0]?.enabled,
  toggled: toggled.enabled,
  forbidden: [forbidden.status, forbidden.permission],
  deleted: [deleted.response.status, missing.status],
};
console.log(JSON.stringify(done));
