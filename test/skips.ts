/** Why a test may be skipped in CI, where any other skipped test is a failure. `.ci/install` installs missing programs. */

const ACCEPTED: readonly RegExp[] = [
  // Tests of what a `Request` cannot express. Other projects run them over Koa, and accept only the reasons below.
  /^\|fetch\| /,
  // Permissions and devices that a container may lack, and that no package provides.
  /skipped: this user may not mount a file system/,
  /skipped: this user may not make a device/,
  /skipped: this machine has no IPv6/,
];

/** @param test the project in bars, the full name and the note of a test */
export function isAcceptedSkip(test: string): boolean {
  return ACCEPTED.some((reason) => reason.test(test));
}
