import { createHash } from 'node:crypto'
import { defined } from '@stet/template/defined'
import { asObject, asText, type Json } from '../json.ts'

export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

export function toolChoiceOf(settings: Json): ToolChoice | undefined {
  const written = settings['toolChoice'] ?? settings['tool_choice']
  const choice = asObject(written)
  const word = typeof written === 'string' ? written : asText(choice['type'])
  if (word === 'any') return 'required'
  if (word === 'auto' || word === 'none' || word === 'required') return word
  const name = asText(asObject(choice['function'])['name']) || asText(choice['name']) || asText(choice['toolName'])
  return name === '' ? undefined : { name }
}

export function parallelCallsOf(settings: Json): boolean | undefined {
  const written = settings['parallelToolCalls'] ?? settings['parallel_tool_calls']
  return typeof written === 'boolean' ? written : undefined
}

/** Builds `tool_choice` and `parallel_tool_calls`. Services reject both keys in a request without tools. */
export function toolSettings(settings: Json, named: (choice: { name: string }) => object): object {
  const choice = toolChoiceOf(settings)
  return defined({
    tool_choice: typeof choice === 'object' ? named(choice) : choice,
    parallel_tool_calls: parallelCallsOf(settings),
  })
}

export interface ToolIdForm {
  fits: RegExp
  length: number
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Keeps an id that fits the form. Otherwise hashes the id, so that equal ids stay equal without a table. */
export function toolIdIn(form: ToolIdForm | undefined, id: string): string {
  if (!form || form.fits.test(id)) return id
  const digest = createHash('sha256').update(id).digest()
  return Array.from(digest.subarray(0, form.length), (byte) => alphabet.charAt(byte % alphabet.length)).join('')
}
