import { base, useSession } from '../../app/session.ts'
import { Time } from '../../ui/time.tsx'
import css from './settings.module.css'

const databases = { embedded: 'embedded, in the data folder of the server', postgresql: 'PostgreSQL' }

export default function AboutPage() {
  const { version, database, features, workspace, apiKey, expiresAt } = useSession()
  return (
    <section className={css['section']}>
      <dl className={css['facts']}>
        <dt>Version</dt>
        <dd>stet {version}</dd>
        <dt>Database</dt>
        <dd>{databases[database]}</dd>
        <dt>Workspace</dt>
        <dd>{workspace.name}</dd>
        <dt>You</dt>
        <dd>
          {apiKey.author.name} ({apiKey.author.email}), with the key “{apiKey.name}” <code>{apiKey.prefix}…</code>
        </dd>
        <dt>Session</dt>
        <dd>
          until <Time at={expiresAt} />
        </dd>
        <dt>Features</dt>
        <dd>{features.length ? features.join(', ') : 'none beyond the first release'}</dd>
        <dt>Licenses</dt>
        <dd>
          <a href={new URL('LICENSES.txt', base).href}>Licenses of the packages in this console</a>
        </dd>
        <dt>API</dt>
        <dd>
          <a href={new URL('docs', base).href}>Reference</a>,{' '}
          <a href={new URL('openapi.json', base).href}>openapi.json</a>
        </dd>
      </dl>
    </section>
  )
}
