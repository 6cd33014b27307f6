import type { CompiledPrompt } from '../compiled-prompt.ts'
import type { Tag, TemplateNode } from '../syntax/nodes.ts'
import { checkDepth } from '../value-depth.ts'

const PLAIN_ROLES = ['system', 'developer', 'user', 'assistant'] as const
type PlainRole = (typeof PLAIN_ROLES)[number]

export type SlotPiece = string | { name: string }

/** One message of a slot plan: its text and the names of the parameters in it. */
export interface SlotMessage {
  role: PlainRole
  /** True for text outside all tags. Such text becomes a message only if it contains more than white space. */
  isStray: boolean
  pieces: SlotPiece[]
}

/**
 * Returns undefined if only the engine can render the prompt. A slot plan supports text, comments, role tags without
 * attributes and parameter names.
 */
export function slotPlanOf(prompt: CompiledPrompt): SlotMessage[] | undefined {
  if (!prompt.tree || prompt.usesSteps || !isShallow(prompt.config)) return undefined
  const names = new Set(prompt.parameters)
  const messages: SlotMessage[] = []
  let stray: TemplateNode[] = []
  const add = (role: PlainRole, isStray: boolean, nodes: readonly TemplateNode[]): boolean => {
    const pieces = piecesOf(nodes, names)
    if (pieces && !(isStray && isBlank(pieces))) messages.push({ role, isStray, pieces })
    return pieces !== undefined
  }
  for (const node of prompt.tree.fragment.children) {
    if (node.type !== 'ElementTag') {
      stray.push(node)
      continue
    }
    const role = plainRole(node)
    if (!role || !add('system', true, stray) || !add(role, false, node.children)) return undefined
    stray = []
  }
  return add('system', true, stray) ? messages : undefined
}

function plainRole(tag: Tag): PlainRole | undefined {
  return tag.attributes.length === 0 ? PLAIN_ROLES.find((role) => role === tag.name) : undefined
}

function piecesOf(nodes: readonly TemplateNode[], names: ReadonlySet<string>): SlotPiece[] | undefined {
  const pieces: SlotPiece[] = []
  for (const node of nodes) {
    if (node.type === 'Text') pieces.push(node.data)
    else if (node.type === 'MustacheTag') {
      const { expression } = node
      if (expression.type !== 'Identifier' || !names.has(expression.name)) return undefined
      pieces.push({ name: expression.name })
    } else if (node.type !== 'Comment' && node.type !== 'Config') return undefined
  }
  return pieces
}

function isBlank(pieces: readonly SlotPiece[]): boolean {
  return pieces.every((piece) => typeof piece === 'string' && piece.trim() === '')
}

function isShallow(config: Record<string, unknown>): boolean {
  try {
    checkDepth(config)
    return true
  } catch {
    return false
  }
}
