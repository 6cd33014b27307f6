/** Finds the message in the choices of a frame. */
import { asCount, asList, asObject, asText, holdsText, isObject, type Json, textIn, UnknownForm } from '../../json.ts'
import { keys } from '../../request/body.ts'

/**
 * Finds the choices of one answer. If the caller asked for one answer, text in one choice and calls in another belong
 * together. A choice with another text is another answer, and counts for nothing. Some services number the frames:
 * then each frame has the next index.
 */
export class Choices {
  /** True if the caller asked for several answers. Then index 0 is the answer. */
  readonly #isOneOfMany: boolean
  /** The index of the text, or of the first choice before the first text. */
  #index: number | undefined
  #last: number | undefined
  /** Undefined while both forms are possible: each frame so far has had the next index. */
  #areFramesNumbered: boolean | undefined
  readonly #others = new Set<number>()
  /** A text with the second index, until the next frame shows the form. */
  held: Json | undefined

  constructor(isOneOfMany: boolean) {
    this.#isOneOfMany = isOneOfMany
  }

  /**
   * @param said the text so far.
   * @param isEnded true if a finish reason has arrived.
   * @throws UnknownForm for a choice that is not an object, and for numbered frames whose text is out of order.
   */
  of(list: readonly unknown[], said: string, isEnded: boolean): readonly Json[] {
    const [only] = list
    // Most frames have the one choice of the frame before.
    if (list.length === 1 && isObject(only) && only['index'] === this.#index && this.#areFramesNumbered === false) {
      return list as readonly Json[]
    }
    if (!list.every(isObject)) throw new UnknownForm()
    const choices: readonly Json[] = list
    if (this.#isOneOfMany) return choices.filter((choice) => (asCount(choice['index']) ?? 0) === 0)
    const [first, second] = choices
    if (!first) return choices
    if (second) return this.#separate(choices, said)
    const index = asCount(first['index'])
    return index === undefined ? choices : this.#next(first, index, said, isEnded)
  }

  #next(choice: Json, index: number, said: string, isEnded: boolean): readonly Json[] {
    const last = this.#last
    this.#last = index
    if (last === undefined) {
      this.#index = index
      return [choice]
    }
    const isText = hasText(choice)
    if (this.#areFramesNumbered) {
      if (isText && index !== last + 1) throw new UnknownForm()
      return [choice]
    }
    if (this.#areFramesNumbered === false || index !== last + 1 || isEnded) return this.#separate([choice], said)
    const held = this.held
    if (said === '' || !isText) {
      if (isText) this.#index = index
      return [choice]
    }
    // A second answer would have its finish reason after the one of the first.
    if (held || isEnding(choice)) this.#areFramesNumbered = true
    this.held = held || isEnding(choice) ? undefined : choice
    return this.held ? [] : held ? [held, choice] : [choice]
  }

  #separate(choices: readonly Json[], said: string): readonly Json[] {
    this.#areFramesNumbered = false
    if (this.held) this.#others.add(this.#indexOf(this.held))
    this.held = undefined
    const spoken = choices.filter(hasText).map((choice) => this.#indexOf(choice))
    if (said === '' && spoken.length > 0) this.#index = Math.min(...spoken)
    for (const index of spoken) if (index !== this.#index) this.#others.add(index)
    return choices.filter((choice) => !this.#others.has(this.#indexOf(choice)))
  }

  #indexOf({ index }: Json): number {
    return asCount(index) ?? this.#index ?? 0
  }
}

function hasText(choice: Json): boolean {
  return wordsOf(messageOf(choice)).text !== ''
}

function messageOf({ delta, message, text }: Json): Json {
  return isObject(delta) ? delta : isObject(message) ? message : { content: text }
}

/** Some services send these before the end. */
const noReasons = new Set(['', 'null', 'None'])

export function reasonIn({ finish_reason: named }: Json): string | undefined {
  return typeof named === 'string' && !noReasons.has(named.trim()) ? named.trim() : undefined
}

function isEnding(choice: Json): boolean {
  return reasonIn(choice) !== undefined
}

const choiceKeys = keys(
  'index finish_reason delta message text logprobs usage finish_details error stop_reason matched_stop ' +
    'native_finish_reason content_filter_results content_filter_offsets safety_ratings',
)
const messageKeys = keys(
  'role content refusal tool_calls function_call reasoning reasoning_content reasoning_details annotations audio ' +
    'images extra_content name id type prefix',
)
/** Keys that are known only with text as their value. */
const textKeys = keys('refusal reasoning reasoning_content text')

/** True if a choice has content, but none of a known kind. */
export function isStrange(choice: Json): boolean {
  const { delta, message } = choice
  const known = [delta, message].filter(isObject)
  return hasMore(choice, choiceKeys) || known.some((each) => hasMore(each, messageKeys))
}

function hasMore(object: Json, known: ReadonlySet<string>): boolean {
  return Object.entries(object).some(
    ([key, value]) => holdsText(value) && (!known.has(key) || (textKeys.has(key) && typeof value !== 'string')),
  )
}

export interface Words {
  text: string
  thought: string
  refusal: string
}

/** @throws UnknownForm for content that is not text, parts or `null`. */
export function wordsOf({ content, refusal: refused, reasoning_content, reasoning }: Json): Words {
  // Some services send the same reasoning under both names.
  const thought = asText(reasoning_content) || asText(reasoning)
  let refusal = asText(refused)
  if (typeof content === 'string') return { text: content || refusal, thought, refusal }
  if (typeof content !== 'object' || content === null) return { text: textIn(content) || refusal, thought, refusal }
  // Mistral sends lists of parts, some of which are reasoning.
  const parts = partsOf(content)
  const thoughts = parts
    .map((part) => part['thinking'])
    .map((thinking) => asText(thinking) || textsOf(asList(thinking).map(asObject)))
  refusal ||= parts.map((part) => asText(part['refusal'])).join('')
  return { text: textsOf(parts) || refusal, thought: thought || thoughts.join(''), refusal }
}

/** @throws UnknownForm for a part that is neither text nor an object, or that names neither type nor text. */
function partsOf(content: object): Json[] {
  return (Array.isArray(content) ? content : [content]).map((part: unknown) => {
    if (typeof part === 'string') return { text: part }
    if (part === null) return {}
    if (!isObject(part)) throw new UnknownForm()
    const { type, text, thinking, refusal } = part
    if ((type ?? text ?? thinking ?? refusal) === undefined && Object.keys(part).length > 0) throw new UnknownForm()
    return part
  })
}

function textsOf(parts: readonly Json[]): string {
  return parts
    .map(({ type, text }) => (type === 'text' || type === 'output_text' || type === undefined ? textIn(text) : ''))
    .join('')
}

/** Gemini's thoughts arrive as answer text between two marks. A flag announces a thought. */
export interface ThoughtMarks {
  state: 'answer' | 'opening' | 'thought'
  /** The start of a mark at the end of the last delta. */
  held: string
}

const opening = '<thought>'
const closing = '</thought>'

export function splitThought(
  marks: ThoughtMarks,
  piece: string,
  delta: Record<string, unknown>,
): { thought: string; text: string } {
  const isFlagged = asObject(asObject(delta['extra_content'])['google'])['thought'] === true
  if (marks.state === 'answer' && !isFlagged) return { thought: '', text: piece }
  if (marks.state === 'answer') marks.state = 'opening'
  let text = marks.held + piece
  marks.held = ''
  if (marks.state === 'opening') {
    if (text.length < opening.length && opening.startsWith(text)) {
      marks.held = text
      return { thought: '', text: '' }
    }
    marks.state = 'thought'
    if (text.startsWith(opening)) text = text.slice(opening.length)
  }
  const end = text.indexOf(closing)
  if (end >= 0) {
    marks.state = 'answer'
    return { thought: text.slice(0, end), text: text.slice(end + closing.length) }
  }
  const cut = text.length - markedEnd(text)
  if (!isFlagged && cut > 0) {
    marks.state = 'answer'
    return { thought: '', text }
  }
  marks.held = text.slice(cut)
  return { thought: text.slice(0, cut), text: '' }
}

function markedEnd(text: string): number {
  let length = Math.min(text.length, closing.length - 1)
  while (length > 0 && !text.endsWith(closing.slice(0, length))) length -= 1
  return length
}
