import { expect, test } from 'vitest'
import { cliLine, curlLines, notInCli, sdkLines } from './call-lines.ts'

const call = { server: 'http://localhost', projectId: 1, versionUuid: 'live', path: 'support/reply' }
const lineOf = (parameters: Record<string, unknown>) => cliLine({ ...call, parameters })

test('a copied command line runs no other command, and reads no file', () => {
  expect(lineOf({ name: 'Ana', count: 2 })).toBe('stet run support/reply --project 1 -p name=Ana -p count:=2')
  expect(lineOf({ 'a; touch /tmp/x #': 'x' })).toContain("-p 'a; touch /tmp/x #=x'")
  expect(lineOf({ name: "it's; ls" })).toContain("-p 'name=it'\\''s; ls'")
  expect(lineOf({ name: '@/etc/passwd' })).toContain(`-p 'name:="@/etc/passwd"'`)
  expect(lineOf({ 'a=1; ls': 'x' })).toBe(`printf %s '{"a=1; ls":"x"}' | stet run support/reply --project 1 --params -`)
})

test('a call has the overrides and the messages of the caller', () => {
  const more = {
    ...call,
    parameters: {},
    overrides: { model: 'm' },
    messages: [{ role: 'user' as const, content: '-x' }],
  }
  expect(sdkLines(more)).toContain('  messages: [{"role":"user","content":"-x"}],\n  overrides: {"model":"m"},\n')
  expect(curlLines(more)).toContain('"overrides":{"model":"m"}')
  expect(cliLine(more)).toContain(' --message=-x')
  expect(notInCli(more)).toEqual(['the overrides'])
})
