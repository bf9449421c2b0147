/** Why a test may be skipped in CI, where any other skipped test is a failure. `.ci/install` installs missing programs. */

const ACCEPTED: readonly RegExp[] = [
  // What a `Request` cannot express. The other projects run the same tests over Koa, where each other reason counts.
  /^\|fetch\| /,
  // What a container may be refused, and no package can give.
  /skipped: this user may not mount a file system/,
  /skipped: this user may not make a device/,
  /skipped: this machine has no IPv6/,
];

/** @param test the project in bars, the full name and the note of a test */
export function isAcceptedSkip(test: string): boolean {
  return ACCEPTED.some((reason) => reason.test(test));
}
