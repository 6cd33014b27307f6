/** Finds the message in the choices of a frame. */
import { asCount, asList, asObject, asText, isObject, type Json } from '../../json.ts'
import { keys } from '../../request/settings.ts'

/**
 * Returns the choices of one answer. If the caller asked for one answer, all choices belong to it: some services number
 * the frames, and some send text and calls as two choices. If a frame has several texts, the first is the answer.
 * @param isOneOfMany true if the caller asked for several answers. Then index 0 is the answer.
 */
export function choicesOf(list: readonly unknown[], isOneOfMany: boolean): Json[] {
  const choices = list.map(asObject)
  if (isOneOfMany) return choices.filter(({ index }) => (asCount(index) ?? 0) === 0)
  if (choices.length < 2) return choices
  const indexOf = ({ index }: Json) => asCount(index) ?? 0
  const spoken = choices.filter((choice) => wordsOf(messageOf(choice)).text !== '').map(indexOf)
  const first = Math.min(...spoken)
  return choices.map((choice) =>
    spoken.includes(indexOf(choice)) && indexOf(choice) !== first ? silent(choice) : choice,
  )
}

function messageOf({ delta, message, text }: Json): Json {
  return isObject(delta) ? delta : isObject(message) ? message : { content: text }
}

/** Returns the choice without text. Its calls and its finish reason may belong to the answer. */
function silent(choice: Json): Json {
  const { content: _content, ...message } = messageOf(choice)
  return { ...choice, text: undefined, message: undefined, delta: message }
}

const choiceKeys = keys('index finish_reason delta message text logprobs usage finish_details error')
const messageKeys = keys(
  'role content refusal tool_calls function_call reasoning reasoning_content reasoning_details annotations audio ' +
    'images extra_content name id type prefix',
)

/** True if a choice without known content has something else. */
export function isStrange(choice: Json): boolean {
  const { delta, message } = choice
  const known = [delta, message].filter(isObject)
  return hasMore(choice, choiceKeys) || known.some((each) => hasMore(each, messageKeys))
}

function hasMore(object: Json, known: ReadonlySet<string>): boolean {
  return Object.entries(object).some(([key, value]) => !known.has(key) && asText(value) !== '')
}

export interface Words {
  text: string
  thought: string
  refusal: string
}

export function wordsOf({ content, refusal: refused, reasoning_content, reasoning }: Json): Words {
  // Some services send the same reasoning under both names.
  const thought = asText(reasoning_content) || asText(reasoning)
  let refusal = asText(refused)
  if (typeof content !== 'object' || content === null) return { text: asText(content) || refusal, thought, refusal }
  // Mistral sends lists of parts, some of which are reasoning.
  const parts = Array.isArray(content) ? content : [content]
  const thoughts = parts
    .map((part) => asObject(part)['thinking'])
    .map((thinking) => asText(thinking) || textsOf(asList(thinking)))
  refusal ||= parts.map((part) => asText(asObject(part)['refusal'])).join('')
  return { text: textsOf(parts) || refusal, thought: thought || thoughts.join(''), refusal }
}

function textsOf(parts: readonly unknown[]): string {
  return parts
    .map(asObject)
    .map(({ type, text }) => (type === 'text' || type === 'output_text' || type === undefined ? asText(text) : ''))
    .join('')
}
