/** Reads text and reasoning from a delta or a plain message, in any format that services use. */
import { asObject, asText } from '../../answer/json.ts'

/** Answer text, including refusals. Mistral sends lists of parts. */
export function spokenOf({ content, refusal }: Record<string, unknown>): string {
  const text = Array.isArray(content) ? textsOf(content, 'text') : asText(content)
  return text === '' ? asText(refusal) : text
}

/** Some services send the same reasoning under both names. Mistral sends it as a content part. */
export function thoughtOf({ reasoning_content, reasoning, content }: Record<string, unknown>): string {
  const text = asText(reasoning_content) || asText(reasoning)
  if (text !== '' || !Array.isArray(content)) return text
  return content
    .map((part) => asObject(part)['thinking'])
    .map((thinking) => (Array.isArray(thinking) ? textsOf(thinking, 'text') : asText(thinking)))
    .join('')
}

/** Encrypted reasoning from gateways such as OpenRouter. Each item is complete and must be sent back unchanged. */
export function sealedThoughtsOf({ reasoning_details }: Record<string, unknown>): unknown[] {
  const details = Array.isArray(reasoning_details) ? reasoning_details : []
  return details.filter((detail) => asObject(detail)['type'] === 'reasoning.encrypted')
}

function textsOf(parts: readonly unknown[], type: string): string {
  return parts
    .map(asObject)
    .map((part) => (part['type'] === type ? asText(part['text']) : ''))
    .join('')
}
