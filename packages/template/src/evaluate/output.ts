import type { Tag } from '../syntax/nodes.ts'
import { type Attributes, messageOf, type PlacedPart, partOf, type RenderedMessage } from './messages.ts'
import { EvaluationError, MAX_TEXT_CHARS, type Meter, type Range } from './values/fuel.ts'
import { copiedWellFormed, wellFormed, withoutIndent } from './values/printed.ts'
import type { ObjectValue, Value } from './values/values.ts'

/** The characters of output that one unit of copied data counts as. */
export const COPIED_CHARS = 8

/** Gathers what an evaluation puts out: text becomes parts, and parts become messages. */
export class Output {
  readonly messages: RenderedMessage[] = []
  private readonly meter: Meter
  private text = ''
  private parts: PlacedPart[] = []
  private chars = 0

  constructor(meter: Meter) {
    this.meter = meter
  }

  count(chars: number): void {
    this.meter.spendText(chars)
    this.chars += chars
    if (this.chars > MAX_TEXT_CHARS) throw new EvaluationError('limit-exceeded', 'The output is larger than 4 MB')
  }

  addText(text: string): void {
    this.count(text.length)
    this.text += text
  }

  addFile(file: ObjectValue, at: Range): void {
    const { url, mimeType, isImage } = file
    const source = this.plain(url)
    const part = isImage
      ? { type: 'image', image: source }
      : { type: 'file', mimeType: this.plain(mimeType), file: source }
    this.parts.push({ part, at })
  }

  private plain(value: Value): unknown {
    if (typeof value !== 'string') {
      const before = this.meter.left
      const copy = copiedWellFormed(value, this.meter, 2)
      this.count((before - this.meter.left) * COPIED_CHARS)
      return copy
    }
    this.count(value.length)
    return wellFormed(value)
  }

  addPart(tag: Tag, attributes: Attributes): void {
    this.parts.push({ part: partOf(tag, attributes, this.takeText(), this.meter), at: tag })
  }

  addMessage(tag: Tag, attributes: Attributes): void {
    this.endText()
    this.messages.push(messageOf(tag, attributes, this.takeParts(), this.meter))
  }

  /** Makes a part of the text so far. */
  endText(): void {
    const text = this.takeText()
    if (text !== '') this.parts.push({ part: { type: 'text', text }, at: undefined })
  }

  /** Makes a message of what no message tag encloses. */
  endStrayContent(): void {
    this.endText()
    const parts = this.takeParts()
    if (parts.length > 0) this.messages.push({ role: 'system', content: parts.map(({ part }) => part) })
  }

  private takeText(): string {
    const { text } = this
    if (text === '') return ''
    this.text = ''
    this.meter.spendText(text.length)
    return wellFormed(withoutIndent(text, this.meter))
  }

  private takeParts(): PlacedPart[] {
    const { parts } = this
    this.parts = []
    return parts
  }
}
