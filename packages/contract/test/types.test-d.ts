import type { Readable } from 'node:stream'
import type { ServerInferRequest, ServerInferResponses } from '@ts-rest/core'
import { expectTypeOf } from 'vitest'
import type { Contract, RawResponse, RouteMetadata } from '../src/index.ts'
import type {
  Change,
  CreateDocumentBody,
  Document,
  LatitudeEvent,
  MessageInput,
  RunDocumentBody,
  RunResult,
} from '../src/vocabulary/index.ts'

type Route<R extends keyof Contract, N extends keyof Contract[R]> = Contract[R][N]
type Metadata<R extends keyof Contract> = {
  [N in keyof Contract[R]]: Contract[R][N] extends { metadata: infer M } ? M : never
}[keyof Contract[R]]
type Body200<T extends Contract['documents']['get'] | Contract['runs']['chat']> = Extract<
  ServerInferResponses<T>,
  { status: 200 }
>['body']

// Every route declares the metadata that the server needs.
expectTypeOf<{ [R in keyof Contract]: Metadata<R> }[keyof Contract]>().toExtend<RouteMetadata>()
expectTypeOf<Route<'runs', 'run'>['metadata']['streams']>().toEqualTypeOf<true>()
expectTypeOf<Route<'conversations', 'get'>['metadata']['scope']>().toEqualTypeOf<readonly ['read', 'run']>()

// Path parameters stay strings.
type GetParams = ServerInferRequest<Route<'documents', 'get'>>['params']
expectTypeOf<GetParams>().toEqualTypeOf<{ projectId: string; versionUuid: string; path: string }>()

// Handlers receive bodies with defaults. Callers may omit these keys.
type RunBody = ServerInferRequest<Route<'runs', 'run'>>['body']
expectTypeOf<RunBody['stream']>().toEqualTypeOf<boolean>()
expectTypeOf<RunBody['parameters']>().toEqualTypeOf<Record<string, unknown>>()
expectTypeOf<{ path: string }>().toExtend<RunDocumentBody>()
expectTypeOf<{ path: string }>().toExtend<CreateDocumentBody>()
expectTypeOf<Pick<Change, 'baseHash'>>().toEqualTypeOf<{ baseHash?: string }>()

// A client may send plain text. The handler receives parts.
expectTypeOf<{ role: 'user'; content: string }>().toExtend<MessageInput>()
expectTypeOf<NonNullable<RunBody['messages']>[number]['content']>().toExtend<readonly { type: string }[]>()

// A handler may return a body or a raw response. Callers see the body type only.
expectTypeOf<Readable>().toExtend<RawResponse>()
expectTypeOf<Readable>().toExtend<Body200<Route<'documents', 'get'>>>()
expectTypeOf<Document>().toExtend<Body200<Route<'documents', 'get'>>>()
expectTypeOf<RunResult>().toExtend<Body200<Route<'runs', 'chat'>>>()
expectTypeOf<{ uuid: string }>().not.toExtend<Body200<Route<'runs', 'chat'>>>()

// An event's type determines its keys.
expectTypeOf<Extract<LatitudeEvent, { type: 'chain-error' }>['error']['name']>().toEqualTypeOf<'DocumentRunError'>()
expectTypeOf<Extract<LatitudeEvent, { type: 'chain-started' }>>().not.toHaveProperty('response')
