const WIDTH = 110

export interface Documentation {
  description?: unknown
  /** TypeScript that uses the type. */
  example?: unknown
  deprecated?: unknown
  /** The value of an absent field. */
  fallback?: unknown
}

/** The JSDoc comment of a declaration, with a line break at its end. Empty without documentation. */
export function documentation({ description, example, deprecated, fallback }: Documentation): string {
  const sentences = [description, fallbackSentence(fallback)].filter((text) => text !== undefined).join(' ')
  const lines = [
    ...(deprecated === true ? [`@deprecated ${sentences}`] : wrapped(sentences)),
    ...(typeof example === 'string' ? [`@example ${example}`] : []),
  ]
  if (lines.length === 0) return ''
  const [only = '', ...more] = lines
  return more.length === 0 ? `/** ${only} */\n` : `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`
}

/** An empty text, list or object says nothing. */
function fallbackSentence(fallback: unknown): string | undefined {
  const isEmpty = fallback === '' || (typeof fallback === 'object' && JSON.stringify(fallback).length === 2)
  return fallback === undefined || isEmpty ? undefined : `Default: \`${JSON.stringify(fallback)}\`.`
}

function wrapped(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ').filter((one) => one !== '')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= WIDTH) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
