import { frontMatterOf } from './front-matter.ts'

/** A part of a text, by its index as stored. */
interface Span {
  from: number
  to: number
}

const comment = /\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->/g

/** The places of the body where a variable is used in an expression. */
export function usesOf(text: string, name: string): Span[] {
  const uses: Span[] = []
  const word = new RegExp(`(?<![\\w$.])${name.replace(/[^\w]/g, '\\$&')}(?![\\w$])`, 'g')
  for (const { from, to } of expressionsOf(text)) {
    const code = text.slice(from, to).replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, blank)
    for (const { index } of code.matchAll(word)) uses.push({ from: from + index, to: from + index + name.length })
  }
  return uses
}

/** Names that a prompt can use: free variables, and those that it sets itself. */
export function namesOf(text: string): string[] {
  const names = new Set<string>()
  for (const { from, to } of expressionsOf(text)) {
    const code = text.slice(from, to)
    for (const [, name] of code.matchAll(/(?:^|\bfor\s+|,\s*)\s*([A-Za-z_$][\w$]*)\s*(?==(?!=)|,|\s+in\b)/g))
      if (name) names.add(name)
  }
  for (const [, , name] of bodyOf(text).matchAll(/<step\b[^>]*?\b(as|raw)\s*=\s*"([\w$]+)"/g)) if (name) names.add(name)
  return [...names]
}

function expressionsOf(text: string): Span[] {
  return [...bodyOf(text).matchAll(/\{\{([\s\S]*?)\}\}/g)]
    .filter(({ index }) => text[index - 1] !== '\\')
    .map(({ index, 1: code = '' }) => ({ from: index + 2, to: index + 2 + code.length }))
}

/** The text with front matter and comments blanked, so that every index stays. */
function bodyOf(text: string): string {
  const area = frontMatterOf(text)
  const body = area ? text.slice(0, area.to).replace(/[^\r\n]/g, ' ') + text.slice(area.to) : text
  return body.replace(comment, blank)
}

function blank(piece: string): string {
  return piece.replace(/[^\r\n]/g, ' ')
}
