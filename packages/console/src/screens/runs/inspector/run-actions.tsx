import type { RunDetails } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Failure, messageOf } from '../../../app/failure.tsx'
import { base, stet, useBlocked, useSession } from '../../../app/session.ts'
import { useShortcut } from '../../../app/shortcuts.ts'
import { cliLine, curlLines, notInCli, sdkLines } from '../../../runs/output/call-lines.ts'
import { isActiveRun } from '../../../runs/run-figures.ts'
import { Button, buttonClass, join } from '../../../ui/button.tsx'
import { Code, CopyButton } from '../../../ui/copy.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Notice } from '../../../ui/states.tsx'
import layout from '../../../ui/styles/layout.module.css'
import { SaveRuns } from '../save-runs.tsx'
import css from './inspector.module.css'
import { conversationQuery } from './queries.ts'
import { tryAgain } from './try-again.ts'
import { versionRef } from './version-ref.ts'

/** Stop an active run. Try an ended one again, chat, or call it from code. */
export function RunActions({ run }: { run: RunDetails }) {
  const [isCalling, setCalling] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const needsWrite = useBlocked('write')
  const toSave = run.parametersState !== 'kept' && 'its inputs were not kept'
  useShortcut({
    keys: 's',
    label: 'Save the run as an example',
    group: 'Run',
    blocked: toSave || needsWrite,
    run: () => setSaving(true),
  })
  if (isActiveRun(run)) return <Stop run={run} />
  const { projectId, versionUuid, path, conversationUuid } = run
  const params = { project: String(projectId), version: versionRef(projectId, versionUuid), _splat: path }
  return (
    <div className={join(layout['row'], css['actions'])}>
      {run.parametersState !== 'none' && (
        <Button look="quiet" onClick={() => setCalling(true)}>
          Call from code
        </Button>
      )}
      {!toSave && (
        <Button look="quiet" shortcut="s" blocked={needsWrite} onClick={() => setSaving(true)}>
          Save as example
        </Button>
      )}
      <Link
        to="/p/$project/v/$version/prompts/$"
        params={params}
        search={{ tab: 'run', run: conversationUuid }}
        className={buttonClass()}
      >
        Chat
      </Link>
      {run.parametersState === 'kept' ? <TryAgain run={run} /> : <CopyMessages run={run} />}
      {isSaving && <SaveRuns projectId={projectId} runs={[run]} onClose={() => setSaving(false)} />}
      {isCalling && <Calls run={run} onClose={() => setCalling(false)} />}
    </div>
  )
}

function Stop({ run }: { run: RunDetails }) {
  const client = useQueryClient()
  const blocked = useBlocked('run')
  const stop = useMutation({
    mutationFn: () => Promise.resolve(stet.runs.stop(run.conversationUuid)),
    onSuccess: () => client.invalidateQueries({ queryKey: ['run'] }),
  })
  useShortcut({ keys: 'mod+.', label: 'Stop the run', group: 'Run', blocked, run: () => stop.mutate() })
  return (
    <div className={join(layout['row'], css['actions'])}>
      <Button blocked={blocked} busy={stop.isPending} onClick={() => stop.mutate()}>
        <Icon name="stop" /> Stop
      </Button>
      {stop.error && <Notice tone="red">{messageOf(stop.error)}</Notice>}
    </div>
  )
}

function TryAgain({ run }: { run: RunDetails }) {
  const { author } = useSession().apiKey
  const navigate = useNavigate()
  const open = useMutation({
    mutationFn: () => tryAgain(run, author),
    onSuccess: ({ version, path }) =>
      navigate({
        to: '/p/$project/v/$version/prompts/$',
        params: { project: String(run.projectId), version, _splat: path },
        search: { tab: 'run' },
      }),
  })
  return (
    <>
      <Button look="primary" busy={open.isPending} onClick={() => open.mutate()}>
        Try again
      </Button>
      {open.error && <Notice tone="red">{messageOf(open.error)}</Notice>}
    </>
  )
}

/** A run whose inputs were not kept can be repeated with the messages before its answer. */
function CopyMessages({ run: { conversationUuid, messageRange } }: { run: RunDetails }) {
  const { data } = useQuery(conversationQuery(conversationUuid))
  if (!data) return null
  const own = data.conversation.slice(0, messageRange?.[1])
  const asked = own.findLastIndex(({ role }) => role === 'user') + 1
  return <CopyButton look="plain" label="Copy the messages" text={() => JSON.stringify(own.slice(0, asked), null, 2)} />
}

/** The same run from code: with the inputs, the overrides and the caller's messages of this one. */
function Calls({ run, onClose }: { run: RunDetails; onClose: () => void }) {
  const { projectId, path, parameters, parametersState, versionUuid, overrides, givenFrom, givenCount } = run
  const { data, error } = useQuery({ ...conversationQuery(run.conversationUuid), enabled: Boolean(givenCount) })
  const server = base.href.replace(/\/$/, '')
  const version = versionRef(projectId, versionUuid)
  const from = givenFrom ?? 0
  const messages = data?.conversation.slice(from, from + (givenCount ?? 0)) ?? []
  const call = { server, projectId, versionUuid: version, path, parameters: parameters ?? {}, messages, overrides }
  const missing = [
    ...(parametersState === 'kept' ? [] : ['the inputs, which were not kept']),
    ...(givenCount && !data ? ["the caller's messages"] : []),
  ]
  const missingInCli = notInCli(call)
  return (
    <Dialog title="Call from code" wide open onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <div className={join(layout['stack'], css['calls'])}>
        {missing.length > 0 && <Notice>The calls lack {missing.join(' and ')}.</Notice>}
        {error && <Failure error={error} what="The caller's messages could not be loaded" />}
        <h3>TypeScript</h3>
        <Code text={sdkLines(call)} label="TypeScript" />
        <h3>curl</h3>
        <Code text={curlLines(call)} label="curl command" />
        <h3>Command line</h3>
        {missingInCli.length > 0 && <Notice>The command line has no flags for {missingInCli.join(' and ')}.</Notice>}
        <Code text={cliLine(call)} label="stet command" />
      </div>
    </Dialog>
  )
}
