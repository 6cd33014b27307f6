/** `X-Stet-Warning`: what is not wrong enough to refuse a request, in words for its author. */
import type { Response } from 'express'
import type { UnknownParameter } from '../../features/runs/unknown-parameters.ts'

export function warnOfParameters(res: Response): (unknown: readonly UnknownParameter[]) => void {
  return (unknown) => {
    const sentences = unknown.map(({ name, didYouMean }) => {
      const hint = didYouMean === undefined ? '' : `, did you mean ${quoted(didYouMean)}?`
      return `unknown parameter ${quoted(name)}${hint}`
    })
    res.setHeader('X-Stet-Warning', sentences.join('; '))
  }
}

/** JSON's quotes and escapes, in ASCII: a header holds nothing else. */
function quoted(name: string): string {
  return JSON.stringify(name).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
