/** The syntax tree of a prompt. Offsets are UTF-16 code units from 0. */
interface Range {
  start: number
  end: number
}

interface Located extends Range {
  loc?: { start: { line: number; column: number }; end: { line: number; column: number } }
}

interface Identifier extends Located {
  type: 'Identifier'
  name: string
}
export interface Literal extends Located {
  type: 'Literal'
  value: unknown
  regex?: unknown
  bigint?: unknown
}
export interface Spread extends Located {
  type: 'SpreadElement'
  argument: Expression
}
export interface ArrayNode extends Located {
  type: 'ArrayExpression'
  elements: (Expression | Spread | null)[]
}
export interface Property extends Located {
  type: 'Property'
  kind: string
  method: boolean
  computed: boolean
  key: Expression
  value: Expression
}
export interface ObjectNode extends Located {
  type: 'ObjectExpression'
  properties: (Property | Spread)[]
}
export interface Operation extends Located {
  type: 'BinaryExpression' | 'LogicalExpression'
  operator: string
  left: Expression
  right: Expression
}
interface Unary extends Located {
  type: 'UnaryExpression'
  operator: string
  prefix: boolean
  argument: Expression
}
interface Assignment extends Located {
  type: 'AssignmentExpression'
  operator: string
  left: Expression
  right: Expression
}
interface Update extends Located {
  type: 'UpdateExpression'
  operator: string
  prefix: boolean
  argument: Expression
}
export interface Member extends Located {
  type: 'MemberExpression'
  object: Expression
  property: Expression
  computed: boolean
  optional: boolean
}
export interface Call extends Located {
  type: 'CallExpression'
  callee: Expression
  arguments: (Expression | Spread)[]
  optional: boolean
}
export interface OptionalChain extends Located {
  type: 'ChainExpression'
  expression: Expression
}
export interface Conditional extends Located {
  type: 'ConditionalExpression'
  test: Expression
  consequent: Expression
  alternate: Expression
}
interface Sequence extends Located {
  type: 'SequenceExpression'
  expressions: Expression[]
}

export type Expression =
  | Identifier
  | Literal
  | ArrayNode
  | ObjectNode
  | Operation
  | Unary
  | Assignment
  | Update
  | Member
  | Call
  | OptionalChain
  | Conditional
  | Sequence

export interface Fragment extends Range {
  type: 'Fragment'
  children: TemplateNode[]
}
interface ConfigNode extends Range {
  type: 'Config'
  value: string
}
interface TextNode extends Range {
  type: 'Text'
  data: string
}
interface CommentNode extends Range {
  type: 'Comment'
}
interface Mustache extends Range {
  type: 'MustacheTag'
  expression: Expression
}
export interface Attribute extends Range {
  type: 'Attribute'
  name: string
  value: true | (TextNode | Mustache)[]
}
export interface Tag extends Range {
  type: 'ElementTag'
  name: string
  attributes: Attribute[]
  children: TemplateNode[]
}
export interface IfBlock extends Range {
  type: 'IfBlock'
  /** True for an `else if`. Such a block is the only child of the outer block's `else` and shares its `endif`. */
  elseif?: boolean
  expression: Expression
  children: TemplateNode[]
  else?: { children: TemplateNode[] } | null
}
export interface ForBlock extends Range {
  type: 'ForBlock'
  expression: Expression
  context: Identifier
  index?: Identifier
  children: TemplateNode[]
  else?: { children: TemplateNode[] } | null
}
export type TemplateNode = Fragment | ConfigNode | TextNode | CommentNode | Mustache | Tag | IfBlock | ForBlock

export function childrenOf(node: TemplateNode): TemplateNode[] {
  if (node.type === 'IfBlock' || node.type === 'ForBlock') {
    return node.else ? [...node.children, ...node.else.children] : node.children
  }
  return node.type === 'Fragment' || node.type === 'ElementTag' ? node.children : []
}

export function* walkNodes(node: TemplateNode): Generator<TemplateNode> {
  const open: TemplateNode[] = [node]
  for (let next = open.pop(); next; next = open.pop()) {
    yield next
    for (const child of childrenOf(next).toReversed()) open.push(child)
  }
}

/** Returns undefined if the attribute has no value or contains expressions. */
export function literalText(attribute: Attribute): string | undefined {
  if (attribute.value === true) return undefined
  const texts = attribute.value.flatMap((part) => (part.type === 'Text' ? [part.data] : []))
  return texts.length === attribute.value.length ? texts.join('') : undefined
}

/** Those of the node itself and of its attributes. */
export function expressionsOf(node: TemplateNode): Expression[] {
  if (node.type === 'ElementTag') return node.attributes.flatMap(expressionsIn)
  return 'expression' in node ? [node.expression] : []
}

export function expressionsIn({ value }: Attribute): Expression[] {
  if (value === true) return []
  return value.flatMap((part) => (part.type === 'MustacheTag' ? [part.expression] : []))
}
