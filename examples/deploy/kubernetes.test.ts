/** kubernetes.yaml: by Kubernetes' schemas, against the app's routes, and the times of a stop. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { fileOf, moduleOf, optionOf, seconds, stopTime } from './deployed.ts'
import { faultsOf } from './schemas.ts'

process.env['PORT'] = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

interface Probe {
  httpGet: { path: string; port: string }
  periodSeconds: number
  failureThreshold: number
}

interface Container {
  args: string[]
  env: { name: string; value: string }[]
  ports: { name: string; containerPort: number }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  securityContext: { readOnlyRootFilesystem: boolean; allowPrivilegeEscalation: boolean }
}

interface Labels {
  matchLabels: object
}

interface Deployment {
  apiVersion: string
  kind: string
  spec: {
    replicas: number
    selector: Labels
    strategy: { rollingUpdate: { maxUnavailable: number } }
    template: {
      metadata: { labels: object }
      spec: {
        terminationGracePeriodSeconds: number
        securityContext: { runAsNonRoot: boolean }
        topologySpreadConstraints: { labelSelector: Labels }[]
        containers: [Container]
      }
    }
  }
}

const documents = parseAllDocuments(fileOf('kubernetes.yaml')).map((each) => {
  assert.deepEqual(each.errors, [])
  return each.toJS() as Deployment
})
const deployment = documents.find(({ kind }) => kind === 'Deployment') as Deployment
const { template, selector } = deployment.spec
const [container] = template.spec.containers

describe('kubernetes.yaml', () => {
  for (const document of documents) {
    const kind = `${document.apiVersion} ${document.kind}`
    test(`the schema of ${kind} finds nothing wrong, and would`, () => {
      assert.deepEqual(faultsOf(kind, document), [])
      assert.match(String(faultsOf(kind, { ...document, spec: { ...document.spec, replica: 2 } })), /replica/)
    })
  }

  test('a wrong type and a misspelt field deep in the pod are found', () => {
    const wrong = JSON.parse(
      JSON.stringify(deployment)
        .replace('"failureThreshold":60', '"failureThreshold":"60"')
        .replace('"mountPath"', '"path"'),
    ) as object
    const faults = String(faultsOf('apps/v1 Deployment', wrong))
    assert.match(faults, /startupProbe\/failureThreshold must be integer/)
    assert.match(faults, /mountPath/)
  })

  test('the pod lives until the app has stopped', () => {
    const grace = template.spec.terminationGracePeriodSeconds
    assert.ok(grace > stopTime(container.args), `${grace} s`)
    // Kubernetes takes the pod from its endpoints meanwhile, in large clusters after 10 s and more.
    assert.ok(seconds(optionOf(container.args, 'drain-delay') ?? '0s') >= 10)
  })

  test('the command is that of the image with another delay', () => {
    assert.equal(moduleOf(container.args), 'dist/main.js')
  })

  test('the probes ask for routes that there are, at the port that answers them', async () => {
    const portOf = (name: string) => container.ports.find((each) => each.name === name)?.containerPort
    assert.equal(String(portOf('http')), container.env.find(({ name }) => name === 'PORT')?.value)
    assert.equal(optionOf(container.args, 'control'), `0.0.0.0:${portOf('control')}`)
    const { startupProbe, livenessProbe, readinessProbe } = container
    assert.deepEqual(livenessProbe.httpGet, { path: '/health', port: 'control' })
    assert.deepEqual(startupProbe.httpGet, { path: '/ready', port: 'http' })
    assert.deepEqual(readinessProbe.httpGet, { path: '/ready', port: 'http' })
    for (const { httpGet } of [startupProbe, readinessProbe])
      assert.equal((await fetch(url + httpGet.path)).status, 200, httpGet.path)
  })

  test('the supervisor has the time to replace a worker that hangs before the pod is restarted', () => {
    const hang = seconds(optionOf(container.args, 'hang-timeout') ?? '30s')
    const start = seconds(optionOf(container.args, 'start-timeout') ?? '30s')
    const { startupProbe, livenessProbe } = container
    assert.ok(livenessProbe.periodSeconds * livenessProbe.failureThreshold > hang)
    assert.ok(startupProbe.periodSeconds * startupProbe.failureThreshold > start)
  })

  test('no pod is taken away before another is there, and none may change its image or be root', () => {
    assert.ok(deployment.spec.replicas >= 2)
    assert.equal(deployment.spec.strategy.rollingUpdate.maxUnavailable, 0)
    assert.equal(template.spec.securityContext.runAsNonRoot, true)
    assert.equal(container.securityContext.readOnlyRootFilesystem, true)
    assert.equal(container.securityContext.allowPrivilegeEscalation, false)
  })

  test('service, budget and spread select the pods', () => {
    assert.deepEqual(selector.matchLabels, template.metadata.labels)
    for (const { labelSelector } of template.spec.topologySpreadConstraints)
      assert.deepEqual(labelSelector.matchLabels, template.metadata.labels)
    const others = documents.filter(
      ({ kind }) => kind === 'Service' || kind === 'PodDisruptionBudget',
    ) as unknown as {
      spec: { selector: Partial<Labels>; minAvailable?: number; ports?: { targetPort: string }[] }
    }[]
    assert.equal(others.length, 2)
    for (const { spec } of others) {
      assert.deepEqual(spec.selector.matchLabels ?? spec.selector, template.metadata.labels)
      if (spec.minAvailable !== undefined) assert.ok(spec.minAvailable < deployment.spec.replicas)
      for (const { targetPort } of spec.ports ?? [])
        assert.ok(
          container.ports.some(({ name }) => name === targetPort),
          targetPort,
        )
    }
  })

  test('the ingress alone reaches the pods, and the port of the app alone', () => {
    const { spec } = documents.find(({ kind }) => kind === 'NetworkPolicy') as unknown as {
      spec: {
        podSelector: Labels
        policyTypes: string[]
        ingress: { from: { namespaceSelector: Labels }[]; ports: { port: string }[] }[]
      }
    }
    assert.deepEqual(spec.podSelector.matchLabels, template.metadata.labels)
    assert.deepEqual(spec.policyTypes, ['Ingress'])
    assert.equal(spec.ingress.length, 1)
    for (const { from, ports } of spec.ingress) {
      // An empty list, or a selector without labels, would stand for everybody.
      assert.equal(from.length, 1)
      for (const { namespaceSelector } of from)
        assert.equal(Object.keys(namespaceSelector.matchLabels).length, 1)
      assert.deepEqual(ports, [{ port: 'http' }])
    }
  })
})
