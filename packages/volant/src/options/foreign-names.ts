/** Lists names that other frameworks have for our options, with one of our names or a sentence beside each. */
const schemas = 'schemas are options themselves: params, query, headers, cookies, body'
const between = 'middleware comes between these options and the handler'

export const foreignNames = {
  createApp: {
    bodyLimit: 'write limits: { maxBodySize }',
    logger: 'use app.use(logger())',
    caseSensitive: 'write router: { caseSensitive }',
    ignoreTrailingSlash: 'write router: { ignoreTrailingSlash }',
    port: 'the address is given to app.listen',
    host: 'the address is given to app.listen',
  },
  router: { strict: 'ignoreTrailingSlash' },
  limits: {
    bodyLimit: 'maxBodySize',
    connectionTimeout: 'requestTimeout',
    maxHeadersCount: 'maxHeaders',
    timeout: 'requestTimeout or handlerTimeout, in ms',
  },
  listen: { hostname: 'host', address: 'host', socket: 'path' },
  route: {
    bodyLimit: 'maxBodySize',
    querystring: 'query',
    preHandler: between,
    preValidation: between,
    onRequest: between,
    schema: schemas,
    schemas,
    timeout: 'handlerTimeout',
    responses: 'response',
    hide: 'hidden',
    output: 'response',
  },
  declaredError: { statusCode: 'status', message: 'description', schema: 'data' },
  openapi: { title: 'info: { title, version }', version: 'info: { title, version }' },
  file: { attachment: 'download', contentType: 'type', filename: 'download' },
  inject: {
    payload: 'body',
    json: 'body',
    form: 'body: new URLSearchParams(…)',
    path: 'url',
    querystring: 'query',
  },
  cors: {
    allowHeaders: 'allowedHeaders',
    allowMethods: 'methods',
    exposeHeaders: 'exposedHeaders',
    origins: 'origin',
  },
  csp: { directives: 'write the directives themselves' },
  logger: { stream: 'destination' },
  securityHeaders: {
    hsts: 'strictTransportSecurity',
    noSniff: 'xContentTypeOptions',
    frameguard: 'xFrameOptions',
    dnsPrefetchControl: 'xDnsPrefetchControl',
    permittedCrossDomainPolicies: 'xPermittedCrossDomainPolicies',
    xssFilter: 'xXssProtection',
    xPoweredBy: 'no reply has this header',
    hidePoweredBy: 'no reply has this header',
  },
} satisfies Readonly<Record<string, Readonly<Record<string, string>>>>
