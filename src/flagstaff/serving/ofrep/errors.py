"""The form of errors that OFREP's clients understand. The members of the problem document follow."""

from flagstaff.http.errors import Problem
from flagstaff.http.operations import ATTRIBUTES_BODY, Endpoint

PATH = "/ofrep/v1/evaluate/flags"
STREAMS_PATH = "/ofrep/v1/streams"
ENDPOINT = Endpoint("/ofrep/", ATTRIBUTES_BODY, evaluations=(PATH, f"{PATH}/{{key}}"), others=(STREAMS_PATH,))


def ofrep_form(problem: Problem, path: str) -> Problem:
    """An error at a path below `/ofrep/`, as JSON with `errorCode` and `errorDetails`, and the `key` of a flag."""
    fields = problem.document.get("errors", ())
    details = "; ".join(f"{each['field']} {each['message']}" for each in fields) or problem.document["detail"]
    members = {"errorCode": _code(problem, path), "errorDetails": details}
    if path.startswith(f"{PATH}/"):
        members = {"key": path.removeprefix(f"{PATH}/"), **members}
    return problem.with_members(members)


def _code(problem: Problem, path: str) -> str:
    if problem.status == 404 and path.startswith(f"{PATH}/"):
        return "FLAG_NOT_FOUND"
    if problem.status != 400:
        return "GENERAL"
    fields = problem.document.get("errors", ())
    return "PARSE_ERROR" if any(each["field"] == "body" for each in fields) else "INVALID_CONTEXT"
