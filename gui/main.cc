// SPDX-License-Identifier: GPL-3.0-or-later
// larder: the window. Shows at once; the engine opens beside it. Ends with larderd's exit codes where it ends by
// itself.
#include <QApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>
#include <QUrl>
#include <cstdio>
#include <memory>

#include "gui/bridge/convert.h"
#include "gui/bridge/local_client.h"
#include "gui/bridge/remote_client.h"
#include "gui/engine_host.h"
#include "gui/options.h"
#include "gui/pages/shell/closing.h"
#include "gui/pages/shell/main_window.h"
#include "gui/pages/shell/tray.h"
#include "gui/picture_run.h"
#include "runtime/settings/settings.h"
#include "storage/data_dir.h"

namespace larder::gui {
namespace {

constexpr int kUsage = 2;

int complain(const std::string& message, int code) {
  std::fprintf(stderr, "larder: %s\n", message.c_str());
  return code;
}

// The window over one client; replaced as a whole when the data folder turns out to be held by another process.
class Desk : public QObject {
 public:
  Desk(Options options, std::string folder, Theme& theme)
      : options_(std::move(options)), folder_(std::move(folder)), theme_(theme), tray_(theme) {}

  void openHere() {
    auto client = std::make_unique<LocalClient>();
    host_ = std::make_unique<EngineHost>(options_, folder_, *client);
    connect(host_.get(), &EngineHost::heldElsewhere, this, &Desk::useHolder);
    connect(host_.get(), &EngineHost::refused, this, &Desk::tellRefusal);
    connect(host_.get(), &EngineHost::keyMade, this, [](const QString& key) {
      std::printf("larder key %s\n", qPrintable(key));
      std::fflush(stdout);
    });
    connect(client.get(), &EngineClient::apiChanged, client.get(), [client = client.get()] {
      if (client->apiUrl().isEmpty()) return;
      std::printf("larder ready %s\n", qPrintable(client->apiUrl()));
      std::fflush(stdout);
    });
    show(std::move(client));
    host_->start();
  }

  void attach(const QUrl& url, const QString& key) { show(std::make_unique<RemoteClient>(url, key)); }

 private:
  void show(std::unique_ptr<EngineClient> client) {
    pictures_.reset();
    closing_.reset();
    window_.reset();
    client_ = std::move(client);
    window_ = std::make_unique<MainWindow>(theme_, *client_);
    window_->show();
    if (options_.screenshots.empty()) {
      closing_ = std::make_unique<Closing>(*window_, *client_, theme_, tray_);
      connect(window_.get(), &MainWindow::quitWanted, closing_.get(), &Closing::leaveNow);
      connect(closing_.get(), &Closing::left, this, &QApplication::quit);
      return;
    }
    pictures_ = std::make_unique<PictureRun>(*window_, *client_, theme_, toQt(options_.screenshots));
    connect(pictures_.get(), &PictureRun::finished, this, [](int count) { QApplication::exit(count >= 9 ? 0 : 1); });
    connect(pictures_.get(), &PictureRun::failed, this, [attached = client_->attached()](const QString& why) {
      QApplication::exit(complain(fromQt(why), attached ? 1 : static_cast<int>(Refusal::kModel)));
    });
    pictures_->start();
  }

  void useHolder(const QString& url, const QString& message) {
    if (!options_.screenshots.empty()) {
      QApplication::exit(complain(fromQt(message), static_cast<int>(Refusal::kData)));
      return;
    }
    const std::string key_path = options_.key_file.empty() ? folder_ + "/first.key" : options_.key_file;
    const auto key = readKeyFile(key_path);
    if (url.isEmpty() || !key.ok()) return;  // the banner says who holds the folder and what can be done
    // Later, not inside the signal of the host that goes with it.
    QMetaObject::invokeMethod(
        this,
        [this, url, key = toQt(key.value())] {
          attach(QUrl(url), key);
          host_.reset();
        },
        Qt::QueuedConnection);
  }

  void tellRefusal(int code, const QString& message) {
    if (!options_.screenshots.empty() && code != static_cast<int>(Refusal::kPort)) {
      QApplication::exit(complain(fromQt(message), code));
      return;
    }
    if (code == static_cast<int>(Refusal::kModel)) {
      window_->showProblem(QCoreApplication::translate("Desk", "The model was not loaded"), message);
    }
  }

  const Options options_;
  const std::string folder_;
  Theme& theme_;
  SystemTray tray_;
  // Destroyed in reverse: pictures, closing, window, client, then the engine.
  std::unique_ptr<EngineHost> host_;
  std::unique_ptr<EngineClient> client_;
  std::unique_ptr<MainWindow> window_;
  std::unique_ptr<Closing> closing_;
  std::unique_ptr<PictureRun> pictures_;
};

// ui.language, else the environment's.
QLocale chosenLocale(const settings::Settings& settings) {
  const std::string language = settings.text(settings::Key::kUiLanguage);
  if (language == "it") return QLocale(QLocale::Italian);
  if (language == "en") return QLocale(QLocale::English);
  return QLocale::system();
}

Theme::Mode chosenMode(const settings::Settings& settings) {
  const std::string theme = settings.text(settings::Key::kUiTheme);
  return theme == "dark" ? Theme::Mode::kDark : theme == "light" ? Theme::Mode::kLight : Theme::Mode::kSystem;
}

void install(QApplication& app, const QLocale& locale) {
  QLocale::setDefault(locale);
  auto* qt = new QTranslator(&app);
  if (qt->load(locale, QStringLiteral("qtbase"), QStringLiteral("_"),
               QLibraryInfo::path(QLibraryInfo::TranslationsPath))) {
    QApplication::installTranslator(qt);
  }
  auto* own = new QTranslator(&app);
  if (own->load(locale, QStringLiteral("larder"), QStringLiteral("_"), QStringLiteral(":/i18n"))) {
    QApplication::installTranslator(own);
  }
}

int run(int argc, char** argv) {
  auto parsed = parseOptions(argc, argv);
  if (!parsed.ok()) return complain(parsed.error().message, kUsage);
  Options options = std::move(parsed).value();
  if (options.help) return std::fputs(options.help_text.c_str(), stdout) < 0 ? 1 : 0;
  if (options.version) return std::puts("larder " LARDER_VERSION) < 0 ? 1 : 0;
  std::string folder = options.data;
  if (folder.empty() && options.attach.empty()) {
    auto found = storage::default_data_dir();
    if (!found.ok()) return complain(found.error().message, static_cast<int>(Refusal::kData));
    folder = std::move(found).value();
  }
  const std::string file = folder.empty() ? std::string() : folder + "/config.toml";
  auto settings = settings::Settings::load(file, options.overrides);
  if (!settings.ok()) return complain(settings.error().message, kUsage);

  QApplication app(argc, argv);
  QApplication::setApplicationName(QStringLiteral("larder"));
  QApplication::setDesktopFileName(QStringLiteral("org.larder.Larder"));
  install(app, chosenLocale(**settings));
  Theme theme;
  theme.setMode(chosenMode(**settings));
  theme.setReducedMotion(!(*settings)->flag(settings::Key::kUiAnimations));
  Desk desk(options, folder, theme);
  if (options.attach.empty()) {
    desk.openHere();
    return QApplication::exec();
  }
  const QUrl url(toQt(options.attach));
  if (!url.isValid() || url.scheme() != QLatin1String("http") || url.host().isEmpty()) {
    return complain("--attach " + options.attach + ": write it as http://ADDR:PORT", kUsage);
  }
  QString key;
  if (!options.key_file.empty()) {
    auto read = readKeyFile(options.key_file);
    if (!read.ok()) return complain(read.error().message, kUsage);
    key = toQt(read.value());
  }
  desk.attach(url, key);
  return QApplication::exec();
}

}  // namespace
}  // namespace larder::gui

int main(int argc, char** argv) { return larder::gui::run(argc, argv); }
