# Builds an image of the program without the embedded Postgres server: containers use a separate database.
# Node 24 is the current long-term release; CI runs the demo and the tests on it.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY LICENSE tsconfig.json rolldown.config.mjs ./
COPY config config
COPY src src
COPY jobs jobs
# The image holds what the npm package holds: compiled code without source maps, SQL, YAML and CSS.
RUN npm run build && npm pack --ignore-scripts && tar -xzf jobmirror-*.tgz

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Skip scripts: "prepare" would compile, but this stage has no compiler. Half of the libraries is TypeScript and maps.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && \
  find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.[cm]ts' \) -delete

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/package ./
USER node
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=6s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/src/cli/main.js"]
CMD ["start", "--config", "/etc/jobmirror/jobmirror.yaml"]
