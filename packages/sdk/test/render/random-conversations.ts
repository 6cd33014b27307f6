/** Random conversations and responses with every role, part and item of the formats. The same seed yields the same. */
import type { RenderedMessage, RenderedPart } from '@stet/template'
import { randomNumbers } from '../../../template/test/engine-tree.ts'

type Values = Record<string, unknown>

const TEXTS = ['', 'Hello', 'line one\nline two', '{"a":1}', 'ünï 🙂', ' padded ']
const MIME_TYPES = ['application/pdf', 'text/plain', 'audio/mpeg', 'audio/wav', 'image/png']

export class ConversationWriter {
  private readonly random: () => number

  constructor(seed: number) {
    this.random = randomNumbers(seed)
  }

  conversation(): { config: Values; messages: RenderedMessage[] } {
    const system = this.pick([undefined, undefined, undefined, 'Be kind.', '', [{ type: 'text', text: 'Be brief.' }]])
    const config = { model: 'm', ...(system !== undefined && { system }) }
    return { config, messages: this.times(0, 5, () => this.message()) }
  }

  private message(): RenderedMessage {
    const extra = this.chance(0.2) ? { name: 'Ada', cache: { ttl: 5 } } : {}
    const role = this.pick(['system', 'user', 'user', 'assistant', 'assistant', 'tool', 'tool', 'developer'])
    // A few conversations contain parts that some formats refuse in this place.
    const texts = role === 'system' && this.chance(0.9)
    switch (role) {
      case 'tool':
        return { ...extra, role, content: this.times(1, 3, () => this.result()) }
      case 'assistant':
        return { ...extra, role, content: this.times(0, 3, () => this.pick([this.text(), this.call(), this.rare()])) }
      default:
        return { ...extra, role, content: this.times(0, 3, () => (texts ? this.text() : this.part())) }
    }
  }

  private part(): RenderedPart {
    return this.pick([this.text(), this.image(), this.file()])
  }

  private rare(): RenderedPart {
    return this.chance(0.2) ? this.part() : this.text()
  }

  private text(): RenderedPart {
    return { ...this.extra(), type: 'text', text: this.pick(TEXTS) }
  }

  private image(): RenderedPart {
    return {
      ...this.extra(),
      type: 'image',
      image: this.pick(['https://host/a.png', 'aGVsbG8=', 'data:image/png;base64,aGVsbG8=']),
    }
  }

  private file(): RenderedPart {
    return {
      ...this.extra(),
      type: 'file',
      file: this.pick(['https://host/a', 'aGVsbG8=', '']),
      mimeType: this.pick(MIME_TYPES),
    }
  }

  private call(): RenderedPart {
    return {
      ...this.extra(),
      type: 'tool-call',
      toolCallId: this.id(),
      toolName: this.pick(['look_up', 'send']),
      args: this.args(),
    }
  }

  private result(): RenderedPart {
    const result = this.pick<unknown>([
      'found',
      '',
      null,
      0,
      { found: [1] },
      [],
      [1, 'a'],
      this.times(1, 3, () => this.part()),
    ])
    const isError = this.chance(0.2) ? { isError: true } : {}
    return { type: 'tool-result', toolCallId: this.id(), toolName: this.pick(['look_up', 'send']), result, ...isError }
  }

  /** A model's response in the format, without its role. */
  answer(format: 'openai' | 'openaiResponses' | 'anthropic'): Values {
    if (format === 'openai') return this.completion()
    return format === 'anthropic' ? this.anthropicMessage() : this.item()
  }

  private completion(): Values {
    const parts = () =>
      this.times(0, 3, () => this.pick<Values>([this.text(), this.audio(), { type: 'refusal', refusal: 'No.' }]))
    const called = () => ({ name: 'look_up', arguments: this.argumentsText() })
    const call = () =>
      this.chance(0.05)
        ? { id: this.id(), type: 'custom', custom: { name: 'sql', input: 'select 1' } }
        : { id: this.id(), type: 'function', function: called() }
    return {
      content: this.pick<unknown>([null, undefined, this.pick(TEXTS), parts()]),
      ...(this.chance(0.5) && { tool_calls: this.pick<unknown>([undefined, null, this.times(0, 3, call)]) }),
      ...(this.chance(0.3) && { refusal: null, annotations: [] }),
    }
  }

  private audio(): Values {
    return { ...this.extra(), type: 'input_audio', data: 'aGVsbG8=', format: this.pick(['mp3', 'wav']) }
  }

  private anthropicMessage(): Values {
    const source = { type: 'base64', media_type: this.pick(['image/png', 'application/pdf']), data: 'aGVsbG8=' }
    const part = () =>
      this.pick<Values>([
        this.text(),
        { ...this.extra(), type: 'image', source },
        { ...this.extra(), type: 'document', source },
        { type: 'tool_use', id: this.id(), name: 'look_up', input: this.args() },
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
      ])
    return {
      content: this.pick<unknown>([
        this.times(0, 4, part),
        this.times(0, 4, part),
        this.pick([...TEXTS, null, undefined]),
      ]),
      ...(this.chance(0.3) && { id: 'msg_1', type: 'message', stop_reason: 'end_turn' }),
    }
  }

  private item(): Values {
    const id = this.chance(0.8) ? { id: this.id(), status: 'completed' } : {}
    return this.pick<() => Values>([
      () => ({ ...id, type: 'message', content: this.times(0, 3, () => this.outputPart()) }),
      () => ({ ...id, type: 'message', content: this.times(0, 3, () => this.outputPart()) }),
      () => ({ type: 'message', content: this.pick([...TEXTS, null, undefined]) }),
      () => ({ type: 'message', content: this.times(0, 3, () => this.inputPart()) }),
      () => ({ ...id, type: 'function_call', call_id: this.id(), name: 'look_up', arguments: this.argumentsText() }),
      () => ({
        ...id,
        type: 'reasoning',
        summary: this.times(0, 2, () => ({ type: 'summary_text', text: 'Hm.' })),
        encrypted_content: 'x',
      }),
      () => ({ id: this.pick(['ws_1', 'ws_ws_2', '3']), status: 'completed', type: 'web_search_call' }),
      () => ({
        id: this.pick(['fs_1', '2']),
        status: 'completed',
        type: 'file_search_call',
        queries: ['a'],
        results: null,
      }),
      () => ({ type: 'item_reference', id: this.id() }),
      () => ({ ...id, type: this.pick(['computer_call', 'computer_call_output', undefined]) }),
    ])()
  }

  private outputPart(): Values {
    const annotations = this.chance(0.5) ? [{ type: 'url_citation' }] : []
    return this.pick<Values>([
      { type: 'output_text', text: this.pick(TEXTS), annotations },
      { type: 'refusal', refusal: 'No.' },
      ...(this.chance(0.1) ? [{ type: 'output_audio' }] : []),
    ])
  }

  /** Models write no images and files, so the SDK reads none. */
  private inputPart(): Values {
    return this.pick<Values>([
      { type: 'input_text', text: this.pick(TEXTS) },
      ...(this.chance(0.1) ? [{ type: 'input_audio' }] : []),
    ])
  }

  private argumentsText(): string {
    return this.chance(0.05) ? this.pick(['', '{', 'no']) : JSON.stringify(this.args())
  }

  private args(): Values {
    return this.pick<Values>([{}, { q: 'x' }, { a: { b: [1, null] } }])
  }

  private extra(): Values {
    return this.chance(0.15) ? { cache_control: { type: 'ephemeral' } } : {}
  }

  private id(): string {
    return this.pick(['call_a', 'call_b', 'call_c'])
  }

  private chance(share: number): boolean {
    return this.random() < share
  }

  private pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)] as T
  }

  private times<T>(least: number, most: number, make: () => T): T[] {
    return Array.from({ length: least + Math.floor(this.random() * (most - least + 1)) }, make)
  }
}
