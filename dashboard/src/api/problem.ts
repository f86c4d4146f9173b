/** Every error of a call in one form: the server's problem document (RFC 9457), or the fact that there was none. */

import { problemsTexts } from "./problemsTexts";

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

export class Problem extends Error {
  readonly status: number;
  readonly fields: readonly FieldProblem[];
  readonly requestId: string | null;
  /** The members of the problem document, such as its type; empty if there was none. */
  readonly document: Readonly<Record<string, unknown>>;
  /** The entity tag of the state that the response describes, if any. */
  readonly tag: string | null;

  constructor(
    status: number,
    detail: string,
    fields: readonly FieldProblem[] = [],
    requestId: string | null = null,
    document: Readonly<Record<string, unknown>> = {},
    tag: string | null = null,
  ) {
    super(detail);
    this.name = "Problem";
    this.status = status;
    this.fields = fields;
    this.requestId = requestId;
    this.document = document;
    this.tag = tag;
  }
}

export interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** Returns the response's data; throws a Problem unless the call succeeded. */
export async function ask<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (error) {
    if (error instanceof Problem || (error instanceof DOMException && error.name === "AbortError")) throw error;
    throw new Problem(0, problemsTexts.unreachable);
  }
  if (!answer.response.ok) throw problemOf(answer.response, answer.error);
  return answer.data as T;
}

function problemOf(response: Response, body: unknown): Problem {
  const document = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const fields = Array.isArray(document.errors) ? document.errors.filter(isFieldProblem) : [];
  const detail = typeof document.detail === "string" ? document.detail : problemsTexts.unexpected(response.status);
  const wait = Number(response.headers.get("retry-after"));
  const text = response.status === 429 && wait > 0 ? problemsTexts.limited(wait) : detail;
  const { headers } = response;
  return new Problem(response.status, text, fields, headers.get("x-request-id"), document, headers.get("etag"));
}

function isFieldProblem(each: unknown): each is FieldProblem {
  const { field, message } = Object(each) as Partial<Record<keyof FieldProblem, unknown>>;
  return typeof field === "string" && typeof message === "string";
}

/** Whether an error is the problem with this code, such as "mfa_required". */
export function isProblem(error: unknown, code: string): error is Problem {
  return error instanceof Problem && error.document.type === `urn:flagstaff:error:${code}`;
}

/** A problem as one line, for places without a form field. */
export function lineOf(error: unknown): string {
  if (!(error instanceof Problem)) return problemsTexts.unexpected(0);
  const fields = error.fields.map((each) => `${each.field} ${each.message}.`);
  return fields.length > 0 ? fields.join(" ") : error.message;
}
