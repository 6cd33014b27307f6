/** The prompts that the steps of a prompt name as agents. */
import { type Expression, expressionsIn, type Spread, type TemplateNode } from './nodes.ts'
import { operandsOf } from './variables.ts'

export interface StepAgents {
  /** Paths as written. */
  paths: string[]
  /** True if a step has something else than a list of texts, so that a run may use any other prompt too. */
  isComputed: boolean
}

export function stepAgentsOf(nodes: readonly TemplateNode[]): StepAgents {
  const lists = nodes.flatMap((node) => {
    if (node.type !== 'ElementTag' || node.name !== 'step') return []
    return node.attributes.filter(({ name }) => name === 'agents').flatMap(expressionsIn)
  })
  const written = lists.map(writtenTexts)
  return { paths: [...new Set(written.flatMap((texts) => texts ?? []))], isComputed: written.includes(undefined) }
}

/** The texts of a list, or of each list that a condition chooses from. Undefined for any other expression. */
function writtenTexts(node: Expression | Spread | null): string[] | undefined {
  switch (node?.type) {
    case undefined:
      return []
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : []
    case 'ConditionalExpression':
      return joined([node.consequent, node.alternate])
    case 'ArrayExpression':
    case 'SpreadElement':
    case 'LogicalExpression':
      return joined(operandsOf(node))
    default:
      return undefined
  }
}

function joined(nodes: readonly (Expression | Spread | null)[]): string[] | undefined {
  const lists = nodes.map(writtenTexts)
  return lists.includes(undefined) ? undefined : lists.flatMap((texts) => texts ?? [])
}
