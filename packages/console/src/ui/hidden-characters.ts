/**
 * Characters that cannot be seen or that turn the direction of a line: with them, a text reads differently from what it
 * contains. Tabs and line ends are left out, and so are joiners, which emoji and several scripts need.
 */
export const hiddenCharacters =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffc]/gu

/** The sign in the place of a hidden character: the printed form of a control character, otherwise a dot. */
export function signOf(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : '\u2022'
}

/** A text that a model, a tool or a provider wrote, with a sign in the place of each hidden character. */
export function withSigns(text: string): string {
  return text.replace(hiddenCharacters, signOf)
}
