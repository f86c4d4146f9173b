import { expect, it } from "vitest";
import { proofOf } from "./proofs";

it("sends a few digits as a code of the app", () => {
  expect(proofOf(" 123 456 ", ["totp", "recovery_code"])).toEqual({ code: "123456" });
  expect(proofOf("", ["totp", "recovery_code"])).toEqual({ code: "" });
});

it("sends everything else as a recovery code, if there are any", () => {
  expect(proofOf("abcd-efgh-2345-6789", ["totp", "recovery_code"])).toEqual({ recovery_code: "abcd-efgh-2345-6789" });
  expect(proofOf("123456", ["passkey", "recovery_code"])).toEqual({ recovery_code: "123456" });
  expect(proofOf("abcd-efgh-2345-6789", ["totp"])).toEqual({ code: "abcd-efgh-2345-6789" });
});
