import { expect, it } from "vitest";
import { Problem } from "../../api/problem";
import { atCodeField, proofOf } from "./proofs";

it("sends a few digits as a code of the app", () => {
  expect(proofOf(" 123 456 ", ["totp", "recovery_code"])).toEqual({ code: "123456" });
  expect(proofOf("", ["totp", "recovery_code"])).toEqual({ code: "" });
});

it("sends everything else as a recovery code, if there are any", () => {
  expect(proofOf("abcd-efgh-2345-6789", ["totp", "recovery_code"])).toEqual({ recovery_code: "abcd-efgh-2345-6789" });
  expect(proofOf("123456", ["passkey", "recovery_code"])).toEqual({ recovery_code: "123456" });
  expect(proofOf("abcd-efgh-2345-6789", ["totp"])).toEqual({ code: "abcd-efgh-2345-6789" });
});

it("shows the errors of both kinds of codes at the one field, and those of others at theirs", () => {
  const fields = [
    { field: "recovery_code", message: "is wrong" },
    { field: "current_password", message: "is not your current password" },
  ];
  expect((atCodeField(new Problem(400, "", fields)) as Problem).fields.map(({ field }) => field)).toEqual([
    "code",
    "current_password",
  ]);
});
