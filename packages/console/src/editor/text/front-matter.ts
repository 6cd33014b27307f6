/** Where the YAML after the first `---` line is. */
export interface FrontMatter {
  from: number
  to: number
}

const opening = /^\uFEFF?\s*(?:(?:\/\*(?:(?!\*\/)[\s\S])*\*\/|<!--(?:(?!-->)[\s\S])*-->)\s*)*---(?!-)/
const restOfLine = /[ \t]*(?:\r\n|\r|\n)/y
const closing = /^[ \t]*---/gm
const blankLine = /(?<=\n|\r(?!\n))[ \t]*(?=[\r\n]|$)/g

/**
 * Null if the text has no front matter. As for the server, both `---` lines may be indented, and the last one may hold
 * more than the dashes. While front matter is typed it has no last line: it then ends before the first blank line.
 */
export function frontMatterOf(text: string): FrontMatter | null {
  const opened = opening.exec(text)?.[0].length
  if (opened === undefined) return null
  restOfLine.lastIndex = opened
  const from = restOfLine.test(text) ? restOfLine.lastIndex : opened
  closing.lastIndex = opened
  blankLine.lastIndex = from
  return { from, to: (closing.exec(text) ?? blankLine.exec(text))?.index ?? text.length }
}
