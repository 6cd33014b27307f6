/** Requests a structured answer through a hidden tool, because every model supports tools. */
import type Anthropic from '@anthropic-ai/sdk'
import { defined } from '@stet/template/defined'
import { asObject, type Json } from '../json.ts'

export const answerToolName = 'structured_answer'

/** Sent with thinking, because the API then allows no forced tool call. */
export const answerInstruction: Anthropic.TextBlockParam = {
  type: 'text',
  text: `Give your final answer only by calling the tool ${answerToolName}.`,
}

export function answerTool(schema: Json): Anthropic.Tool {
  const input = isWrapped(schema) ? wrapped(schema) : schema
  return { name: answerToolName, description: 'Takes the final answer.', input_schema: { ...input, type: 'object' } }
}

/** Tool input must be an object, so any other answer is wrapped in an object with one key. */
export function isWrapped(schema: Json): boolean {
  return schema['type'] !== 'object'
}

export function unwrapped(rawInput: string): string {
  try {
    return JSON.stringify(asObject(JSON.parse(rawInput))['answer']) ?? rawInput
  } catch {
    return rawInput
  }
}

// References start at the schema's root, so definitions must stay there.
function wrapped({ $defs, definitions, ...answer }: Json): Json {
  return defined({ properties: { answer }, required: ['answer'], $defs, definitions })
}
