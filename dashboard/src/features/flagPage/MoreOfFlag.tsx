/** The part of a flag's overview below the first screen: the different results of some SDKs, and its users. */

import { type FlagPlace, isArchived } from "../../api/flagPlace";
import { Users } from "../history/Users";
import { SdkDifferences } from "./SdkDifferences";

export default function MoreOfFlag({ path, flag }: Pick<FlagPlace, "path" | "flag">) {
  return (
    <>
      {!isArchived(flag) && <SdkDifferences path={path} />}
      <Users path={path} flag={flag} />
    </>
  );
}
