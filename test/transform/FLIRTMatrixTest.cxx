// SPDX-License-Identifier: Apache-2.0
// Tests FLIRT's matrices against values computed by hand, and their files.
#include "TemporaryFolder.h"
#include "TestImages.h"

#include "itkAffineTransform.h"
#include "itkBSplineTransform.h"
#include "itkFLIRTMatrix.h"
#include "itkMetaDataObject.h"

#include <gtest/gtest.h>

#include <fstream>
#include <locale>
#include <string>

namespace gpuregtest
{

namespace
{
/** Returns an image of 11 × 21 × 31 voxels of 2, 3 and 4 mm, or of another number along x. \param flipped true if x has the reverse
 *  direction in ITK's coordinates. */
itk::Image<float, 3>::Pointer
MakeFLIRTImage(bool flipped, double originX, itk::SizeValueType sizeX = 11)
{
  Grid<3> grid;
  grid.size = { { sizeX, 21, 31 } };
  grid.spacing[0] = 2;
  grid.spacing[1] = 3;
  grid.spacing[2] = 4;
  grid.origin[0] = originX;
  grid.origin[1] = -30;
  grid.origin[2] = 5;
  if (flipped)
  {
    grid.direction[0][0] = -1;
  }
  return MakeImage<itk::Image<float, 3>>(grid, [](const auto &) { return 0.0; });
}

void
ExpectMatrix(const itk::FLIRTMatrix::MatrixType & matrix, const double (&expected)[4][4])
{
  for (unsigned int r = 0; r < 4; ++r)
  {
    for (unsigned int c = 0; c < 4; ++c)
    {
      EXPECT_NEAR(matrix[r][c], expected[r][c], 1e-12) << "row " << r << ", column " << c;
    }
  }
}

/** Returns the image that ITK's reader makes of a NIfTI file of 11 × 21 × 31 voxels; if the file has an sform or a qform, x points to
 *  the left or to the right in it. */
itk::Image<float, 3>::Pointer
MakeImageOfFile(const char * qformCode, const char * sformCode, bool isLeft)
{
  const bool isPlaced = std::string(qformCode) != "0" || std::string(sformCode) != "0";
  // ITK's own x axis points to the left.
  const auto image = MakeFLIRTImage(isPlaced && !isLeft, isPlaced ? -5 : 0);
  if (isPlaced)
  {
    // ITK's own y axis points to the posterior.
    auto direction = image->GetDirection();
    direction[1][1] = -1;
    image->SetDirection(direction);
  }
  itk::EncapsulateMetaData<std::string>(image->GetMetaDataDictionary(), "qform_code", qformCode);
  itk::EncapsulateMetaData<std::string>(image->GetMetaDataDictionary(), "sform_code", sformCode);
  return image;
}
} // namespace

/** A translation by (1, 2, 3) mm from fixed to moving points, of images with the same grid. */
TEST(FLIRTMatrix, OfATranslation)
{
  const auto transform = itk::AffineTransform<double, 3>::New();
  transform->Translate([] {
    itk::Vector<double, 3> t;
    t[0] = 1;
    t[1] = 2;
    t[2] = 3;
    return t;
  }());
  // The determinant is negative: x is not flipped. The image's x axis is opposite to ITK's, so a shift of -1 mm along one is 1 mm along the
  // other. The matrix is that of the inverse.
  const auto radiological = MakeFLIRTImage(true, 20);
  ExpectMatrix(itk::FLIRTMatrix::FromTransform(*transform, *radiological, *radiological),
               { { 1, 0, 0, 1 }, { 0, 1, 0, -2 }, { 0, 0, 1, -3 }, { 0, 0, 0, 1 } });
  // The determinant is positive: x is counted from the other end, so it is opposite to ITK's, too.
  const auto neurological = MakeFLIRTImage(false, -10);
  ExpectMatrix(itk::FLIRTMatrix::FromTransform(*transform, *neurological, *neurological),
               { { 1, 0, 0, 1 }, { 0, 1, 0, -2 }, { 0, 0, 1, -3 }, { 0, 0, 0, 1 } });
}

/** FSL's rule: x is counted from the other end if the determinant of the file's form is positive, and not if the file has no form. For
 *  the identity matrix, FSL's x of a voxel is the same in both images. */
TEST(FLIRTMatrix, OfFilesThatSayWhereTheyAreOrDoNot)
{
  itk::FLIRTMatrix::MatrixType identity;
  identity.SetIdentity();
  const auto fixed = MakeImageOfFile("1", "0", true);
  for (const char * qformCode : { "0", "1" })
  {
    for (const char * sformCode : { "0", "2" })
    {
      for (const bool isLeft : { true, false })
      {
        SCOPED_TRACE(std::string("qform ") + qformCode + ", sform " + sformCode + (isLeft ? ", left" : ", right"));
        const auto moving = MakeImageOfFile(qformCode, sformCode, isLeft);
        const bool isTurned = !isLeft && std::string(qformCode) + sformCode != "00";
        const auto transform = itk::FLIRTMatrix::ToTransform(identity, *fixed, *moving);
        const auto point = transform->TransformPoint(fixed->TransformIndexToPhysicalPoint<double>({ { 3, 4, 5 } }));
        const auto wanted = moving->TransformIndexToPhysicalPoint<double>({ { isTurned ? 7 : 3, 4, 5 } });
        for (unsigned int d = 0; d < 3; ++d)
        {
          EXPECT_NEAR(point[d], wanted[d], 1e-12);
        }
      }
    }
  }
}

/** Index (i, j, k) of the fixed image, whose directions have a positive determinant, is at (-10 + 2i, …) in ITK, and in FSL at 2·(10 -
 *  i); of the moving one, of a negative determinant, at (20 - 2i, …), and in FSL at 2i. So the same point has fsl x = 10 - x and 20 - x:
 *  of the identity the fixed one's is 10 less. */
TEST(FLIRTMatrix, OfImagesOfBothKinds)
{
  const auto neurological = MakeFLIRTImage(false, -10);
  const auto radiological = MakeFLIRTImage(true, 20);
  const auto identity = itk::AffineTransform<double, 3>::New();
  ExpectMatrix(itk::FLIRTMatrix::FromTransform(*identity, *neurological, *radiological),
               { { 1, 0, 0, -10 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } });
  // A quarter turn about z, from x to y, about ITK's origin: (x, y) ↦ (-y, x). With x = 10 - u, y = v - 30 for the fixed and x' = 20 -
  // u', y' = v' - 30 for the moving one: u' = 20 + y = v - 10, v' = 30 + x = 40 - u. The other way round: u = 40 - v', v = u' + 10.
  const auto turn = itk::AffineTransform<double, 3>::New();
  turn->Rotate(0, 1, -0.5 * Pi);
  const auto turned = turn->TransformPoint([] {
    itk::Point<double, 3> p(0.0);
    p[0] = 1;
    return p;
  }());
  ASSERT_NEAR(turned[1], 1.0, 1e-12);
  ExpectMatrix(itk::FLIRTMatrix::FromTransform(*turn, *neurological, *radiological),
               { { 0, -1, 0, 40 }, { 1, 0, 0, 10 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } });
}

/** The moving image's x is counted from its own end: of 15 voxels index i is at -10 + 2i in ITK, and in FSL at 2·(14 - i), so the same
 *  point has fsl x' = 18 - x; in the fixed image, whose x is counted from its beginning, 20 - x. */
TEST(FLIRTMatrix, OfAMovingImageOfAnotherSizeThatIsFlipped)
{
  const auto radiological = MakeFLIRTImage(true, 20);
  const auto neurological = MakeFLIRTImage(false, -10, 15);
  const auto identity = itk::AffineTransform<double, 3>::New();
  ExpectMatrix(itk::FLIRTMatrix::FromTransform(*identity, *radiological, *neurological),
               { { 1, 0, 0, 2 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } });
  // (x, y) ↦ (-y, x), with x = 20 - u and y = v - 30: u' = 18 + y = v - 12, v' = 30 + x = 50 - u.
  const auto turn = itk::AffineTransform<double, 3>::New();
  turn->Rotate(0, 1, -0.5 * Pi);
  ExpectMatrix(itk::FLIRTMatrix::FromTransform(*turn, *radiological, *neurological),
               { { 0, -1, 0, 50 }, { 1, 0, 0, 12 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } });
}

/** The fixed image's first directions, in the plane of x and y, are (0.6, 0.8) and (-0.8, 0.6). Their determinant is positive, so its first
 *  coordinate runs from the other end: a point is (1, 2, 5) + (20 - u)·(0.6, 0.8, 0) + v·(-0.8, 0.6, 0) + w·(0, 0, 1), or
 *  x = 13 - 0.6u - 0.8v, y = 18 - 0.8u + 0.6v, z = 5 + w. So u = 0.6·(13 - x) + 0.8·(18 - y), v = 0.8·(13 - x) - 0.6·(18 - y). */
TEST(FLIRTMatrix, OfObliqueImages)
{
  using DirectionType = itk::Image<float, 3>::DirectionType;
  const auto    fixed = MakeFLIRTImage(false, 1);
  DirectionType aboutZ;
  aboutZ.SetIdentity();
  aboutZ[0][0] = aboutZ[1][1] = 0.6;
  aboutZ[0][1] = -0.8;
  aboutZ[1][0] = 0.8;
  fixed->SetDirection(aboutZ);
  auto origin = fixed->GetOrigin();
  origin[1] = 2;
  fixed->SetOrigin(origin);
  const auto moving = MakeFLIRTImage(true, 20);
  const auto identity = itk::AffineTransform<double, 3>::New();
  // A moving image along the axes: x = 20 - u', y = v' - 30, z = 5 + w'. Hence 13 - x = u' - 7 and 18 - y = 48 - v'.
  ExpectMatrix(itk::FLIRTMatrix::FromTransform(*identity, *fixed, *moving),
               { { 0.6, -0.8, 0, 34.2 }, { 0.8, 0.6, 0, -34.4 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } });
  // The moving image's others are (0, 0.6, 0.8) and (0, -0.8, 0.6): y = 0.6v' - 0.8w' - 30, z = 5 + 0.8v' + 0.6w'.
  DirectionType aboutX;
  aboutX.SetIdentity();
  aboutX[0][0] = -1;
  aboutX[1][1] = aboutX[2][2] = 0.6;
  aboutX[1][2] = -0.8;
  aboutX[2][1] = 0.8;
  moving->SetDirection(aboutX);
  ExpectMatrix(itk::FLIRTMatrix::FromTransform(*identity, *fixed, *moving),
               { { 0.6, -0.48, 0.64, 34.2 }, { 0.8, 0.36, -0.48, -34.4 }, { 0, 0.8, 0.6, 0 }, { 0, 0, 0, 1 } });
}

namespace
{
/** A test with a file. */
class FLIRTMatrixFile : public ::testing::Test
{
protected:
  FLIRTMatrixFile()
  {
    transform->Rotate3D(itk::Vector<double, 3>(1.0), 0.3);
  }

  const TemporaryFolder                          folder;
  const std::string                              name = (folder.GetPath() / "found.mat").string();
  const itk::Image<float, 3>::Pointer            fixed = MakeFLIRTImage(false, -10);
  const itk::Image<float, 3>::Pointer            moving = MakeFLIRTImage(true, 20);
  const itk::AffineTransform<double, 3>::Pointer transform = itk::AffineTransform<double, 3>::New();
};
} // namespace

TEST_F(FLIRTMatrixFile, IsWrittenAndRead)
{
  transform->Scale(1.1);
  transform->Translate(itk::Vector<double, 3>(7.0));
  itk::FLIRTMatrix::Write(name, transform, fixed, moving);
  const auto read = itk::FLIRTMatrix::Read(name, fixed, moving);
  for (unsigned int p = 0; p < 12; ++p)
  {
    EXPECT_NEAR(read->GetParameters()[p], transform->GetParameters()[p], 1e-12);
  }
  const auto write = [this](const std::string & text) { std::ofstream(name) << text; };
  write("1 0 0 0\n0 1 0 0\n0 0 one 0\n0 0 0 1\n");
  EXPECT_THROW(itk::FLIRTMatrix::Read(name, fixed, moving), itk::ExceptionObject);
  write("1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 1 1\n");
  EXPECT_THROW(itk::FLIRTMatrix::Read(name, fixed, moving), itk::ExceptionObject);
  write("1 0 0 0\n0 1 0 0\n0 0 0 0\n0 0 0 1\n");
  EXPECT_THROW(itk::FLIRTMatrix::Read(name, fixed, moving), itk::ExceptionObject) << "no inverse";
  write("1 2 3 0\n4 5 6 0\n7 8 9 0\n0 0 0 1\n");
  EXPECT_THROW(itk::FLIRTMatrix::Read(name, fixed, moving), itk::ExceptionObject) << "none but for rounding";
  EXPECT_THROW(itk::FLIRTMatrix::Read(name + ".missing", fixed, moving), itk::ExceptionObject);
  EXPECT_THROW(itk::FLIRTMatrix::Write((folder.GetPath() / "no" / "folder.mat").string(), transform, fixed, moving),
               itk::ExceptionObject);
  EXPECT_THROW(itk::FLIRTMatrix::Write(name, itk::BSplineTransform<double, 3, 3>::New(), fixed, moving),
               itk::ExceptionObject);
  EXPECT_THROW(itk::FLIRTMatrix::Write(name, nullptr, fixed, moving), itk::ExceptionObject);
}

namespace
{
/** Number format as in Germany: 1.234,5. */
class CommaForPoint : public std::numpunct<char>
{
  char
  do_decimal_point() const override
  {
    return ',';
  }
  char
  do_thousands_sep() const override
  {
    return '.';
  }
  std::string
  do_grouping() const override
  {
    return "\3";
  }
};

/** Changes the program's locale, until the end of the scope. */
class GlobalLocale
{
public:
  explicit GlobalLocale(const std::locale & locale)
    : m_Before(std::locale::global(locale))
  {}
  ~GlobalLocale()
  {
    std::locale::global(m_Before);
  }

private:
  const std::locale m_Before;
};
} // namespace

TEST_F(FLIRTMatrixFile, IsTheSameFileInEachLocale)
{
  transform->Translate(itk::Vector<double, 3>(12345.5));
  itk::FLIRTMatrix::Write(name, transform, fixed, moving);
  const std::string text = ReadFile(name);
  EXPECT_NE(text.find('.'), std::string::npos) << text;
  const auto         parameters = itk::FLIRTMatrix::Read(name, fixed, moving)->GetParameters();
  const GlobalLocale locale(std::locale(std::locale::classic(), new CommaForPoint));
  ASSERT_EQ(std::use_facet<std::numpunct<char>>(std::locale()).decimal_point(), ',');
  itk::FLIRTMatrix::Write(name, transform, fixed, moving);
  EXPECT_EQ(ReadFile(name), text);
  EXPECT_EQ(itk::FLIRTMatrix::Read(name, fixed, moving)->GetParameters(), parameters);
}

} // namespace gpuregtest
