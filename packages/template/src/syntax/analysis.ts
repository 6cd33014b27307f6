import type { Fault } from '../compile-error.ts'
import {
  type Attribute,
  type Expression,
  type ForBlock,
  type Fragment,
  literalText,
  type Tag,
  type TemplateNode,
} from './nodes.ts'
import { checkExpression, checkName, type Report } from './policy.ts'
import { declareName, emptyNames, type Names, noteNames, visitBlock } from './variables.ts'

export interface Analysis {
  faults: Fault[]
  parameters: string[]
  usesSteps: boolean
}

/** Limits the size of the response. */
const MAX_FAULTS = 20

const MESSAGE_TAGS = new Set(['message', 'system', 'developer', 'user', 'assistant', 'tool'])
const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool'])
const CONTENT_TAGS = new Set(['content', 'content-text', 'content-image', 'content-file', 'tool-call'])
const CONTENT_TYPES = new Set(['text', 'image', 'file', 'tool-call'])

interface Surroundings {
  names: Names
  step: boolean
  content: boolean
  /** The role of the enclosing message. It is `message` if an expression sets the role. */
  message?: string | undefined
}

interface Walk {
  report: Report
  usesSteps: boolean
}

export function analyse(fragment: Fragment): Analysis {
  const faults: Fault[] = []
  const report: Report = (fault) => {
    if (faults.length < MAX_FAULTS) faults.push(fault)
  }
  const walk: Walk = { report, usesSteps: false }
  const names = emptyNames()
  visitAll(fragment.children, walk, { names, step: false, content: false })
  return { faults, parameters: [...names.free], usesSteps: walk.usesSteps }
}

function visitAll(nodes: readonly TemplateNode[], walk: Walk, around: Surroundings): void {
  for (const node of nodes) visit(node, walk, around)
}

function visitBranch(nodes: readonly TemplateNode[], walk: Walk, around: Surroundings, declared?: string[]): void {
  visitBlock(around.names, (names) => visitAll(nodes, walk, { ...around, names }), declared)
}

function visit(node: TemplateNode, walk: Walk, around: Surroundings): void {
  switch (node.type) {
    case 'MustacheTag':
      readExpression(node.expression, walk, around.names)
      break
    case 'IfBlock':
      readExpression(node.expression, walk, around.names)
      visitBranch(node.children, walk, around)
      visitBranch(node.else?.children ?? [], walk, around)
      break
    case 'ForBlock':
      visitLoop(node, walk, around)
      break
    case 'ElementTag':
      visitTag(node, walk, around)
      break
    default:
      break
  }
}

function readExpression(expression: Expression, walk: Walk, names: Names): void {
  if (checkExpression(expression, walk.report)) noteNames(expression, names, walk.report)
}

function visitLoop(node: ForBlock, walk: Walk, around: Surroundings): void {
  readExpression(node.expression, walk, around.names)
  visitBranch(node.else?.children ?? [], walk, around)
  const declared = node.index ? [node.context, node.index] : [node.context]
  for (const variable of declared) {
    checkName(variable.name, variable, walk.report)
    if (around.names.known.has(variable.name)) {
      const message = `Variable '${variable.name}' is already declared`
      walk.report({ code: 'variable-already-declared', message, ...rangeOf(variable) })
    }
  }
  const names = declared.map((variable) => variable.name)
  visitBranch(node.children, walk, around, names)
}

function visitTag(tag: Tag, walk: Walk, around: Surroundings): void {
  const fail = (code: string, message: string): void => walk.report({ code, message, ...rangeOf(tag) })
  readAttributes(tag, walk, around.names)
  if (tag.name === 'step') visitStep(tag, walk, around, fail)
  else if (tag.name === 'scope') visitScope(tag, walk, around, fail)
  else if (MESSAGE_TAGS.has(tag.name)) visitMessage(tag, walk, around, fail)
  else if (CONTENT_TAGS.has(tag.name)) visitContent(tag, walk, around, fail)
  else visitAll(tag.children, walk, around)
}

type Fail = (code: string, message: string) => void

function visitMessage(tag: Tag, walk: Walk, around: Surroundings, fail: Fail): void {
  if (around.message || around.content) {
    fail('message-tag-inside-message', 'Message tags cannot be inside of another message')
  }
  const role = tag.name === 'message' ? writtenText(tag, 'role') : tag.name
  checkMessageTag(tag, role, fail)
  visitAll(tag.children, walk, { ...around, message: role ?? 'message' })
}

function visitContent(tag: Tag, walk: Walk, around: Surroundings, fail: Fail): void {
  if (around.content) fail('content-tag-inside-content', 'Content tags must be directly inside message tags')
  const type = tag.name === 'content' ? writtenText(tag, 'type') : tag.name.replace('content-', '')
  if (tag.name === 'content' && !given(tag, 'type')) {
    fail('invalid-content-type', 'Content tags must have a type attribute')
  } else if (type === 'tool-call') checkToolCall(tag, around, fail)
  else if (type !== undefined) checkContent(tag, type, fail)
  visitAll(tag.children, walk, { ...around, content: true })
}

function visitStep(tag: Tag, walk: Walk, around: Surroundings, fail: Fail): void {
  walk.usesSteps = true
  if (around.step) fail('step-tag-inside-step', 'Step tags cannot be inside of another step tag')
  visitAll(tag.children, walk, { ...around, step: true })
  for (const name of ['as', 'raw']) {
    const attribute = find(tag, name)
    if (!attribute || attribute.value === true) continue
    const variable = literalText(attribute)
    if (variable === undefined) {
      fail('invalid-static-attribute', `The attribute '${name}' must only contain literal values`)
    } else if (checkName(variable, attribute, walk.report)) declareName(around.names, variable)
  }
}

function visitScope(tag: Tag, walk: Walk, around: Surroundings, fail: Fail): void {
  const passed = tag.attributes.filter((attribute) => checkName(attribute.name, attribute, walk.report))
  const names = emptyNames(passed.map((attribute) => attribute.name))
  visitAll(tag.children, walk, { ...around, names })
  for (const name of names.free) {
    fail(
      'reference-missing-parameter',
      `The referenced prompt requires a '${name}' parameter. Add it as an attribute to the tag.`,
    )
  }
}

function readAttributes(tag: Tag, walk: Walk, names: Names): void {
  for (const attribute of tag.attributes) {
    if (attribute.name.startsWith('__')) checkName(attribute.name, attribute, walk.report)
    if (attribute.value === true) continue
    for (const part of attribute.value) {
      if (part.type === 'MustacheTag') readExpression(part.expression, walk, names)
    }
  }
}

/** Checks everything that the engine refuses for all parameters. @param role undefined if computed */
function checkMessageTag(tag: Tag, role: string | undefined, fail: Fail): void {
  if (tag.name === 'message' && !given(tag, 'role'))
    fail('message-tag-without-role', 'Message tags must have a role attribute')
  else if (role !== undefined && !ROLES.has(role)) fail('invalid-message-role', `Invalid message role: ${role}`)
  if (role !== 'tool') return
  if (!given(tag, 'id')) fail('tool-message-without-id', 'Tool messages must have an id attribute')
  if (!given(tag, 'name')) fail('tool-message-without-name', 'Tool messages must have a name attribute')
}

function checkContent(tag: Tag, type: string, fail: Fail): void {
  if (!CONTENT_TYPES.has(type)) fail('invalid-content-type', `Invalid content type: ${type}`)
  else if (tag.children.every(isBlank)) fail('empty-content-tag', 'Content tags cannot be empty')
  else if (type === 'file' && !given(tag, 'mime'))
    fail('file-tag-without-mime-type', 'File tags must have a mime type attribute')
}

function isBlank(node: TemplateNode): boolean {
  return node.type === 'Comment' || (node.type === 'Text' && node.data.trim() === '')
}

function checkToolCall(tag: Tag, around: Surroundings, fail: Fail): void {
  if (!given(tag, 'id')) fail('tool-call-tag-without-id', 'Tool call tags must have an id attribute')
  if (!given(tag, 'name')) fail('tool-call-without-name', 'Tool calls must have a name attribute')
  if (around.message !== 'assistant' && around.message !== 'message') {
    fail('invalid-tool-call-placement', 'Only assistant messages can contain tool calls')
  }
  const written = find(tag, 'arguments')
  const text = written && literalText(written)?.trim()
  if (text && !isJsonObject(text)) {
    fail('invalid-tool-call-arguments', 'Tool calls must contain a JSON object as arguments')
  }
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function find(tag: Tag, name: string): Attribute | undefined {
  return tag.attributes.find((attribute) => attribute.name === name)
}

/** Finds an attribute that is not empty as written. The engine treats `id=""` as missing. */
function given(tag: Tag, name: string): Attribute | undefined {
  const attribute = find(tag, name)
  return attribute && literalText(attribute) !== '' ? attribute : undefined
}

/** @returns undefined if the attribute is missing or computed */
function writtenText(tag: Tag, name: string): string | undefined {
  const attribute = given(tag, name)
  return attribute && (attribute.value === true ? 'true' : literalText(attribute))
}

function rangeOf(node: { start: number; end: number }): { start: number; end: number } {
  return { start: node.start, end: node.end }
}
