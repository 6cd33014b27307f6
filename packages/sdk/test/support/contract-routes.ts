import type { Contract } from '@stet/contract'
import type { OperationName } from '../../src/operations.ts'

/** Operations whose route lies outside the contract, with the reason. */
export const OUTSIDE = { health: 'served outside the API prefix, without a key' } as const

type RouteName = { [R in keyof Contract]: readonly [R, keyof Contract[R]] }[keyof Contract]

/** The contract's name of each operation's route. */
export const ROUTES = {
  me: ['apiKeys', 'me'],
  'projects.list': ['projects', 'list'],
  'projects.create': ['projects', 'create'],
  'projects.update': ['projects', 'update'],
  'projects.delete': ['projects', 'delete'],
  'versions.list': ['versions', 'list'],
  'versions.get': ['versions', 'get'],
  'versions.create': ['versions', 'create'],
  'versions.publish': ['versions', 'publish'],
  'versions.push': ['versions', 'push'],
  'versions.revert': ['versions', 'revert'],
  'versions.diff': ['versions', 'diff'],
  'prompts.list': ['documents', 'list'],
  'prompts.create': ['documents', 'create'],
  'prompts.get': ['documents', 'get'],
  'prompts.getOrCreate': ['documents', 'getOrCreate'],
  'prompts.createOrUpdate': ['documents', 'createOrUpdate'],
  'prompts.delete': ['documents', 'delete'],
  'prompts.run': ['runs', 'run'],
  'conversations.list': ['conversations', 'list'],
  'conversations.get': ['conversations', 'get'],
  'conversations.delete': ['conversations', 'delete'],
  'conversations.erase': ['conversations', 'erase'],
  'conversations.chat': ['runs', 'chat'],
  'runs.toolResult': ['tools', 'result'],
  'runs.attach': ['runs', 'attach'],
  'runs.stop': ['runs', 'stop'],
  'evaluations.create': ['evaluations', 'create'],
  'evaluations.list': ['evaluations', 'list'],
  'evaluations.get': ['evaluations', 'get'],
  'evaluations.annotate': ['evaluations', 'annotate'],
  'conversations.annotations': ['evaluations', 'annotations'],
  'logs.create': ['logs', 'create'],
  'providerKeys.list': ['providerApiKeys', 'list'],
  'providerKeys.get': ['providerApiKeys', 'get'],
  'providerKeys.create': ['providerApiKeys', 'create'],
  'providerKeys.update': ['providerApiKeys', 'update'],
  'providerKeys.delete': ['providerApiKeys', 'delete'],
  'apiKeys.list': ['apiKeys', 'list'],
  'apiKeys.create': ['apiKeys', 'create'],
  'apiKeys.rotate': ['apiKeys', 'rotate'],
  'apiKeys.revoke': ['apiKeys', 'revoke'],
} as const satisfies Record<Exclude<OperationName, keyof typeof OUTSIDE>, RouteName>
