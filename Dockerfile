# The program in an image, without the embedded Postgres server: a container has a database beside it.
# Node 24 is the present long-term release; CI runs the demo and the tests on it.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src src
COPY jobs jobs
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: "prepare" would compile, and there is no compiler here.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
# The SQL and the tables are read from their source folders; they are not compiled.
COPY src src
COPY config config
USER node
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=6s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/src/cli/main.js"]
CMD ["start", "--config", "/etc/jobmirror/jobmirror.yaml"]
