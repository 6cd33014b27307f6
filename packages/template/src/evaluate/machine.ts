import type { Attribute, ForBlock, IfBlock, Tag, TemplateNode } from '../syntax/nodes.ts'
import { evaluate, type Run } from './expression.ts'
import { type Frame, nodesOf } from './frames.ts'
import { type Attributes, MESSAGE_TAGS } from './messages.ts'
import { COPIED_CHARS, Output } from './output.ts'
import { Scope } from './scope.ts'
import { EvaluationError, type Range } from './values/fuel.ts'
import { copiedWellFormed, filesOf, toJson } from './values/printed.ts'
import { isObject, joinItems, setOwn, toText, type Value } from './values/values.ts'

const NODE_UNITS = 2
const TAG_UNITS = 25
const ATTRIBUTE_UNITS = 20
const FILE_UNITS = 4

/** Walks the nodes of a prompt up to the end of a step. The explicit stack cannot overflow, and can be stored. */
export class Machine {
  readonly stack: Frame[] = []
  readonly output: Output
  readonly run: Run
  /** The attributes of the step at whose end the machine stopped. */
  step: Attributes | undefined

  constructor(run: Run) {
    this.run = run
    this.output = new Output(run.meter)
  }

  /** @throws EvaluationError */
  advance(): void {
    const { meter } = this.run
    while (!this.step) {
      const frame = this.stack.at(-1)
      if (!frame) break
      meter.spend(NODE_UNITS)
      const node = nodesOf(frame)[frame.at]
      frame.at += 1
      if (node) this.visit(node, frame)
      else this.leave(frame)
    }
    this.output.endStrayContent()
  }

  private evaluate(expression: Parameters<typeof evaluate>[0], scope: Scope): Value {
    this.run.meter.at = expression
    return evaluate(expression, scope, this.run)
  }

  private enter(kind: Frame['kind'], node: TemplateNode, from: Frame, more: Partial<Frame> = {}): void {
    const { scope, isInContent } = from
    this.stack.push({ kind, node, isElse: false, at: 0, scope, isInContent, ...more })
  }

  private visit(node: TemplateNode, frame: Frame): void {
    switch (node.type) {
      case 'Text':
        this.output.addText(node.data)
        break
      case 'MustacheTag':
        this.print(this.evaluate(node.expression, frame.scope), node.expression, node, frame)
        break
      case 'IfBlock':
        this.enterBranch(node, frame, !this.evaluate(node.expression, frame.scope))
        break
      case 'ForBlock':
        this.enterLoop(node, frame)
        break
      case 'ElementTag':
        this.enterTag(node, frame)
        break
      default:
        break
    }
  }

  private print(value: Value, expression: Range, node: Range, frame: Frame): void {
    const { meter } = this.run
    if (value === undefined) return
    meter.at = expression
    const files = filesOf(value, meter)
    if (files) this.printFiles(files, node, frame)
    else if (value instanceof Date) this.output.addText(value.toISOString())
    else if (Array.isArray(value) || isObject(value)) this.output.addText(toJson(value, meter))
    else this.output.addText(String(value))
  }

  private printFiles(files: NonNullable<ReturnType<typeof filesOf>>, node: Range, frame: Frame): void {
    const { meter } = this.run
    meter.spend(files.length * FILE_UNITS)
    if (!frame.isInContent) {
      this.output.endText()
      for (const file of files) this.output.addFile(file, node)
      return
    }
    const [file, ...others] = files
    if (others.length > 0) {
      throw new EvaluationError('multiple-files-in-content-tag', 'Content tags can only contain one file', node)
    }
    this.output.addText(toText(file?.['url'], meter))
  }

  private enterBranch(node: IfBlock | ForBlock, frame: Frame, isElse: boolean): void {
    this.enter('list', node, frame, { isElse, scope: new Scope(frame.scope) })
  }

  private enterLoop(node: ForBlock, frame: Frame): void {
    const items = this.itemsOf(this.evaluate(node.expression, frame.scope))
    if (items.length === 0) {
      this.enterBranch(node, frame, true)
      return
    }
    for (const variable of node.index ? [node.context, node.index] : [node.context]) {
      if (!frame.scope.find(variable.name, this.run.meter)) continue
      const message = `Variable '${variable.name}' is already declared`
      throw new EvaluationError('variable-already-declared', message, variable)
    }
    this.enter('for', node, frame, { items, index: 0, scope: passScope(node, frame.scope, items, 0) })
  }

  private itemsOf(value: Value): readonly Value[] {
    if (Array.isArray(value)) return value
    if (typeof value !== 'string') return []
    this.run.meter.spend(value.length)
    return [...value]
  }

  private enterTag(tag: Tag, frame: Frame): void {
    this.run.meter.spend(TAG_UNITS + tag.attributes.length * ATTRIBUTE_UNITS)
    this.output.endText()
    const values: Attributes = {}
    for (const attribute of tag.attributes) values[attribute.name] = this.attributeValue(attribute, frame.scope)
    const { name } = tag
    if (name === 'scope') {
      const scope = new Scope()
      for (const [key, value] of Object.entries(values)) scope.values.set(key, value)
      this.enter('list', tag, frame, { scope })
      return
    }
    const isMessage = MESSAGE_TAGS.has(name)
    if (isMessage) this.output.endStrayContent()
    if (name === 'message' && values['role'] === undefined) {
      throw new EvaluationError('message-tag-without-role', 'Message tags must have a role attribute', tag)
    }
    const attributes = this.copyOf(values, tag)
    if (name === 'step') this.enter('step', tag, frame, { attributes })
    else if (isMessage) this.enter('message', tag, frame, { attributes })
    else this.enter('content', tag, frame, { attributes, isInContent: true })
  }

  private attributeValue({ value }: Attribute, scope: Scope): Value {
    if (value === true) return true
    const values: Value[] = []
    for (const part of value) {
      const found = part.type === 'Text' ? part.data || undefined : this.evaluate(part.expression, scope)
      if (found !== undefined) values.push(found)
    }
    if (values.length < 2) return values[0]
    return joinItems(
      values.map((each) => (each === null ? 'null' : each)),
      '',
      this.run.meter,
    )
  }

  /** A message has the values of the moment at which its tag opened. */
  private copyOf(values: Attributes, tag: Tag): Attributes {
    const { meter } = this.run
    const copy: Attributes = {}
    meter.at = tag
    for (const [name, value] of Object.entries(values)) {
      const before = meter.left
      setOwn(copy, name, copiedWellFormed(value, meter, 1))
      if (typeof value === 'string') this.output.count(value.length)
      else if (typeof value === 'object') this.output.count((before - meter.left) * COPIED_CHARS)
    }
    return copy
  }

  private leave(frame: Frame): void {
    const { kind, attributes = {} } = frame
    const tag = frame.node as Tag
    if (kind === 'for') {
      this.goOn(frame)
      return
    }
    if (kind === 'step') {
      // The frame stays, so that the answer can continue behind it.
      this.step = attributes
      return
    }
    this.stack.pop()
    if (kind === 'message') this.output.addMessage(tag, attributes)
    else if (kind === 'content') this.output.addPart(tag, attributes)
  }

  /** Begins the next pass of a loop. The list may have grown or shrunk meanwhile. */
  private goOn(frame: Frame): void {
    const { items = [], index = 0, scope } = frame
    const next = index + 1
    if (next >= items.length || !scope.outer) {
      this.stack.pop()
      return
    }
    frame.at = 0
    frame.index = next
    frame.scope = passScope(frame.node as ForBlock, scope.outer, items, next)
  }
}

function passScope({ context, index: counter }: ForBlock, outer: Scope, items: readonly Value[], index: number): Scope {
  const scope = new Scope(outer)
  scope.values.set(context.name, items[index])
  if (counter) scope.values.set(counter.name, index)
  return scope
}
