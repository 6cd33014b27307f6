/** Numbers that a double cannot hold would change silently, so they are refused. */

/** @param refuse makes the error from the fault */
export function parseExactJson(text: string, refuse: (fault: string) => Error): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refuse(`not JSON: ${(error as Error).message}`)
  }
  // In valid JSON, what looks like a number outside of a string is one. An open string would end with the text: linear time.
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|-?\d[\d.eE+-]*/gs))
    if (!token.startsWith('"') && !isExact(token)) throw refuse(inexact(token))
  return value
}

export function inexact(number: string): string {
  return `${number.slice(0, 40)} ${whyInexact(number)}; write it as a text`
}

export function whyInexact(number: string): string {
  return Number.isFinite(Number(number)) ? 'has more digits than a number can have' : 'is not a finite number'
}

/** Whether the number is finite and no integer that was rounded. A fraction may be, as everywhere. */
export function isExact(text: string): boolean {
  const number = Number(text)
  return (
    Number.isFinite(number) &&
    (Number.isSafeInteger(number) ||
      !Number.isInteger(number) ||
      !/^[+-]?\d+$/.test(text) ||
      BigInt(text.replace('+', '')) === BigInt(number))
  )
}
